import { withBase } from 'vitepress';
import { onBeforeUnmount, onMounted, ref } from 'vue';

/**
 * Starts a part of the playground in the element of a component, and ends it with the component.
 * The playground is a file of its own, which no other page loads.
 */
export function useBundle(partOf) {
  const element = ref();
  let stop = () => undefined;
  onMounted(async () => {
    const bundle = await import(/* @vite-ignore */ withBase('/playground.js'));
    stop = partOf(bundle)(element.value);
  });
  onBeforeUnmount(() => stop());
  return element;
}
