import type { Endpoint } from '../http/endpoint';

const style =
  'body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}' +
  'code{background:#f3f3f3;padding:.1rem .3rem;border-radius:.2rem}td{padding:.3rem .8rem .3rem 0;vertical-align:top}' +
  '@media(prefers-color-scheme:dark){body{background:#151515;color:#ddd}code{background:#2a2a2a}a{color:#8ab4f8}}';

/** The operations as one plain page without scripts; /openapi.json holds the details. */
export function docsPage(endpoints: readonly Endpoint[]): string {
  const tags = [...new Set(endpoints.map((endpoint) => endpoint.tag))];
  const sections = tags.map((tag) => {
    const rows = endpoints.filter((endpoint) => endpoint.tag === tag).map(row);
    return `<h2>${escape(tag)}</h2><table>${rows.join('')}</table>`;
  });
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Nightshift API</title><style>${style}</style>` +
    '<h1>Nightshift API</h1><p>Send a key as <code>Authorization: Bearer nsk_…</code> or <code>x-api-key</code>. Errors are ' +
    '<code>application/problem+json</code> and list every fault. Everything in detail: ' +
    `<a href="/openapi.json">/openapi.json</a>.</p>${sections.join('')}</html>`
  );
}

function row(endpoint: Endpoint): string {
  const role = endpoint.role === 'public' ? 'no key' : endpoint.role;
  return (
    `<tr><td><code>${endpoint.method} ${escape(endpoint.path.replaceAll(/:(\w+)/g, '{$1}'))}</code></td>` +
    `<td>${escape(endpoint.summary)}</td><td>${role}</td></tr>`
  );
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
