import type { ReactElement } from 'react';

type Component<Props> = (props: Props) => ReactElement | string;

/** The versions of one component, the newest as `current`. */
interface Family {
  current: unknown;
}

/** The functions of React for the plugin of a bundler. */
interface Renderer {
  readonly setRefreshHandler: (familyOf: (type: unknown) => Family | undefined) => void;
  readonly scheduleRefresh: (root: unknown, update: { readonly updatedFamilies: Set<Family>; readonly staleFamilies: Set<Family> }) => void;
}

const renderers: Renderer[] = [];
const roots = new Set<unknown>();

// React passes its functions on when it is loaded, so this module has to be the first one.
Object.assign(globalThis, {
  __REACT_DEVTOOLS_GLOBAL_HOOK__: {
    supportsFiber: true,
    inject: (renderer: Renderer) => renderers.push(renderer),
    onCommitFiberRoot: (_id: number, root: unknown) => roots.add(root),
    onCommitFiberUnmount: () => undefined,
  },
});

/** Replaces a component by another version of it, as Fast Refresh does for an edited file: the state stays. */
export function refresh<Props>(before: Component<Props>, now: Component<Props>): void {
  const family: Family = { current: now };
  for (const { setRefreshHandler, scheduleRefresh } of renderers) {
    setRefreshHandler((type) => (type === before || type === now ? family : undefined));
    for (const root of roots) scheduleRefresh(root, { updatedFamilies: new Set([family]), staleFamilies: new Set() });
  }
}
