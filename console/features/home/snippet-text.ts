export type SnippetLanguage = 'python' | 'node' | 'curl'

export const SNIPPET_LANGUAGES: readonly { id: SnippetLanguage; title: string }[] = [
  { id: 'python', title: 'Python' },
  { id: 'node', title: 'Node.js' },
  { id: 'curl', title: 'cURL' },
]

/** A first call by the official SDK, or by hand. `address` is the site's origin. */
export function snippetText(language: SnippetLanguage, address: string): string {
  const base = `${address.replace(/\/+$/, '')}/v1`
  return SNIPPETS[language](base)
}

const SNIPPETS: Record<SnippetLanguage, (base: string) => string> = {
  python: (base) => `from openai import OpenAI

client = OpenAI(
    base_url="${base}",
    api_key="sk-…",
)
reply = client.chat.completions.create(
    model="gpt-4o-mini",
    messages=[{"role": "user", "content": "Hello"}],
)`,
  node: (base) => `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${base}',
  apiKey: 'sk-…',
})
const reply = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Hello' }],
})`,
  curl: (base) => `curl ${base}/chat/completions \\
  -H "Authorization: Bearer sk-…" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "gpt-4o-mini",
    "messages": [
      {"role": "user", "content": "Hello"}
    ]
  }'`,
}
