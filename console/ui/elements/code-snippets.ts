export type SnippetKind = 'curl' | 'python' | 'node'
export const SNIPPET_KINDS: readonly SnippetKind[] = ['curl', 'python', 'node']

/** Returns sample code for a first call. The code works without changes. */
export function codeSnippet(
  kind: SnippetKind,
  { address, key, model }: { address: string; key: string; model: string },
): string {
  const base = `${address.replace(/\/+$/, '')}/v1`
  if (kind === 'curl') return curlSnippet(base, key, model)
  return kind === 'python' ? pythonSnippet(base, key, model) : nodeSnippet(base, key, model)
}

const HELLO = [{ role: 'user', content: 'Hello' }]

/** Escapes a text for use inside single quotes in a POSIX shell. */
const shellText = (text: string): string => text.replaceAll("'", "'\\''")

const curlSnippet = (base: string, key: string, model: string): string =>
  [
    `curl ${base}/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${shellText(JSON.stringify({ model, messages: HELLO }))}'`,
  ].join('\n')

const pythonSnippet = (base: string, key: string, model: string): string =>
  [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(base)}, api_key=${JSON.stringify(key)})`,
    'answer = client.chat.completions.create(',
    `    model=${JSON.stringify(model)},`,
    '    messages=[{"role": "user", "content": "Hello"}],',
    ')',
    'print(answer.choices[0].message.content)',
  ].join('\n')

const nodeSnippet = (base: string, key: string, model: string): string =>
  [
    "import OpenAI from 'openai'",
    '',
    'const client = new OpenAI({',
    `  baseURL: ${JSON.stringify(base)},`,
    `  apiKey: ${JSON.stringify(key)},`,
    '})',
    'const answer = await client.chat.completions.create({',
    `  model: ${JSON.stringify(model)},`,
    "  messages: [{ role: 'user', content: 'Hello' }],",
    '})',
    'console.log(answer.choices[0].message.content)',
  ].join('\n')
