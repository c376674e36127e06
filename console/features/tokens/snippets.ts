export const SNIPPETS = ['curl', 'python', 'node'] as const
export type Snippet = (typeof SNIPPETS)[number]

export type SnippetInput = { address: string; key: string; model: string }

/** A first call to copy and run as it stands. */
export function snippetText(snippet: Snippet, { address, key, model }: SnippetInput): string {
  const base = `${address.replace(/\/+$/, '')}/v1`
  if (snippet === 'curl') return curl(base, key, model)
  return snippet === 'python' ? python(base, key, model) : node(base, key, model)
}

const curl = (base: string, key: string, model: string): string =>
  [
    `curl ${base}/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })}'`,
  ].join('\n')

const python = (base: string, key: string, model: string): string =>
  [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${base}", api_key="${key}")`,
    'reply = client.chat.completions.create(',
    `    model=${JSON.stringify(model)},`,
    '    messages=[{"role": "user", "content": "Hello"}],',
    ')',
    'print(reply.choices[0].message.content)',
  ].join('\n')

const node = (base: string, key: string, model: string): string =>
  [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: '${base}', apiKey: '${key}' })`,
    'const reply = await client.chat.completions.create({',
    `  model: ${JSON.stringify(model)},`,
    "  messages: [{ role: 'user', content: 'Hello' }],",
    '})',
    'console.log(reply.choices[0].message.content)',
  ].join('\n')
