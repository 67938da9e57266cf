/**
 * The parts of the site that depend on its address: `SITE_URL=https://example.org/rxmux/ npm run docs`. Without an address it is built for
 * the root of any host. It then has no sitemap and no picture for previews, because both need whole addresses.
 */
export function hosted({ title, description }, address = process.env.SITE_URL ?? '') {
  const site = address === '' ? null : siteOf(address);
  const base = site?.pathname ?? '/';
  const urlOf = (path) => (site === null ? null : new URL(path, site).href);
  return {
    base,
    head: [
      ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }],
      property('og:site_name', title),
      property('og:type', 'website'),
      ...(site === null
        ? []
        : [property('og:image', urlOf('social.png')), ['meta', { name: 'twitter:card', content: 'summary_large_image' }]]),
    ],
    ...(site === null ? {} : { sitemap: { hostname: site.href } }),
    transformHead({ page, pageData }) {
      const path = page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '');
      const url = urlOf(path);
      return [
        property('og:title', pageData.title || title),
        property('og:description', pageData.description || description),
        ...(url === null || pageData.isNotFound ? [] : [property('og:url', url), ['link', { rel: 'canonical', href: url }]]),
      ];
    },
  };
}

const property = (name, content) => ['meta', { property: name, content }];

function siteOf(address) {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new TypeError(`SITE_URL: expected an address such as https://example.org/rxmux/, got '${address}'`);
  return new URL(address.endsWith('/') ? address : `${address}/`);
}
