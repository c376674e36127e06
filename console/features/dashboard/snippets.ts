export type SnippetKind = 'curl' | 'python' | 'node'
export const SNIPPET_KINDS: readonly SnippetKind[] = ['curl', 'python', 'node']

export function snippetOf(
  kind: SnippetKind,
  { address, key, model }: { address: string; key: string; model: string },
): string {
  if (kind === 'curl') return curlSnippet(address, key, model)
  return kind === 'python' ? pythonSnippet(address, key, model) : nodeSnippet(address, key, model)
}

const HELLO = [{ role: 'user', content: 'Hello' }]

/** Escapes a text for use between single quotes of a POSIX shell. */
const shellText = (text: string): string => text.replaceAll("'", "'\\''")

const curlSnippet = (address: string, key: string, model: string): string =>
  [
    `curl ${address}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${shellText(JSON.stringify({ model, messages: HELLO }))}'`,
  ].join('\n')

const pythonSnippet = (address: string, key: string, model: string): string =>
  [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(`${address}/v1`)}, api_key=${JSON.stringify(key)})`,
    'answer = client.chat.completions.create(',
    `    model=${JSON.stringify(model)},`,
    '    messages=[{"role": "user", "content": "Hello"}],',
    ')',
    'print(answer.choices[0].message.content)',
  ].join('\n')

const nodeSnippet = (address: string, key: string, model: string): string =>
  [
    "import OpenAI from 'openai'",
    '',
    'const client = new OpenAI({',
    `  baseURL: ${JSON.stringify(`${address}/v1`)},`,
    `  apiKey: ${JSON.stringify(key)},`,
    '})',
    'const answer = await client.chat.completions.create({',
    `  model: ${JSON.stringify(model)},`,
    "  messages: [{ role: 'user', content: 'Hello' }],",
    '})',
    'console.log(answer.choices[0].message.content)',
  ].join('\n')

/** Formats a key as `sk-ab…yz`, which identifies the key but is not usable. */
export const maskedKey = (key: string): string =>
  key.length < 12 ? 'sk-…' : `${key.slice(0, 5)}…${key.slice(-4)}`
