/**
 * The values of the templates. `site` is the public address without a final slash, and `name` is
 * the name of the site.
 */
export type SetupValues = Record<'site' | 'name' | 'key' | 'model' | 'smallModel', string>

export type Client = {
  readonly name: string
  /**
   * Matches the models that are suggested first. Any chat model works, because the gateway converts
   * calls.
   */
  readonly prefers?: RegExp
  readonly note?: 'calledFromServers' | 'needsHttps' | 'runsInContainer'
  /**
   * The names of the templates by title. A name ends with `form` if its lines are the fields of a
   * form, and with `link` if it is a link that opens the client.
   */
  readonly setups: Readonly<Record<string, string>>
}

const TEMPLATES = import.meta.glob<string>('./templates/*.txt', {
  query: '?raw',
  import: 'default',
  eager: true,
})

const json = (text: string): string => JSON.stringify(text).slice(1, -1)
const shell = (text: string): string => text.replaceAll("'", "'\\''")

/** Escapes a value for its place in a template: within the quotes of a language, or in a URL. */
const ESCAPES: Readonly<Record<string, (text: string) => string>> = {
  /** For quotes in JSON, JavaScript, Python and TOML, which have the same escape sequences. */
  json,
  shell,
  body: (text) => shell(json(text)),
  url: (text) => encodeURIComponent(text.toWellFormed()).replaceAll("'", '%27'),
}

/**
 * Encodes a text as Cherry Studio expects it: as base64 with `_` and `-` in place of `+` and `/`.
 * Cherry Studio can't read quotes and brackets.
 */
function cherryStudioBase64(text: string): string {
  const bytes = new TextEncoder().encode(text.replace(/['()]/g, ''))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '_')
    .replaceAll('/', '-')
}

const CONTAINER_HOST = 'host.docker.internal'
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0|\[::\])$/

/**
 * Returns the address of the site for a program in a container. A loopback address would be the
 * container itself there, so the name that Docker gives the host takes its place.
 */
export function containerSiteOf(site: string): string {
  const address = URL.parse(site)
  if (address === null || !LOOPBACK.test(address.hostname)) return site
  address.hostname = CONTAINER_HOST
  return address.href.replace(/\/$/, '')
}

/** Docker on Linux gives the host a name only if this flag is set. */
const HOST_FLAG = `\n  --add-host=${CONTAINER_HOST}:host-gateway \\`

/**
 * Fills a template. Placeholders have the form `{{key}}` or, with the way to escape the value,
 * `{{model, json}}`.
 */
export function setupText(template: string, values: SetupValues): string {
  const text = (TEMPLATES[`./templates/${template}.txt`] ?? '').trimEnd()
  const containerSite = containerSiteOf(values.site)
  const hostFlag = containerSite === values.site ? '' : HOST_FLAG
  const all = { ...values, containerSite, hostFlag }
  return text
    .replace(/\{\{(\w+)(?:, (\w+))?\}\}/g, (_, name: keyof typeof all, place = '') =>
      (ESCAPES[place] ?? String)(all[name]),
    )
    .replace(/(?<=&data=)base64\((.*)\)$/, (_, data: string) => cherryStudioBase64(data))
}

const inLanguages = (template: string): Client['setups'] => ({
  Python: `${template}-python`,
  TypeScript: `${template}-typescript`,
})

const CLAUDE = /claude/i
const GEMINI = /gemini/i
const GPT = /^(?:gpt|o\d|codex)/i

/**
 * The clients by kind. Names of clients and of their fields are not translated, because the clients
 * show them like this in every language.
 */
export const CLIENTS: Readonly<Record<'sdk' | 'agent' | 'app', readonly [Client, ...Client[]]>> = {
  sdk: [
    {
      name: 'cURL',
      setups: {
        'Chat Completions': 'curl-chat',
        Messages: 'curl-messages',
        Responses: 'curl-responses',
        Gemini: 'curl-gemini',
      },
    },
    { name: 'OpenAI', prefers: GPT, setups: inLanguages('openai') },
    { name: 'Anthropic', prefers: CLAUDE, setups: inLanguages('anthropic') },
    { name: 'Google Gen AI', prefers: GEMINI, setups: inLanguages('google-genai') },
    { name: 'Vercel AI', setups: { TypeScript: 'vercel-ai' } },
  ],
  agent: [
    {
      name: 'Claude Code',
      prefers: CLAUDE,
      setups: { '~/.claude/settings.json': 'claude-code-settings', Bash: 'claude-code-bash' },
    },
    {
      name: 'Codex',
      prefers: GPT,
      setups: { '~/.codex/config.toml': 'codex-config', Bash: 'codex-bash' },
    },
    {
      name: 'Gemini CLI',
      prefers: GEMINI,
      note: 'needsHttps',
      setups: { '~/.gemini/.env': 'gemini-cli-env', Bash: 'gemini-cli-bash' },
    },
    { name: 'Cursor', note: 'calledFromServers', setups: { form: 'cursor-form' } },
    { name: 'Cline', setups: { form: 'cline-form' } },
    {
      name: 'CC Switch',
      setups: {
        'Claude Code': 'cc-switch-claude-link',
        Codex: 'cc-switch-codex-link',
        'Gemini CLI': 'cc-switch-gemini-link',
      },
    },
  ],
  app: [
    {
      name: 'Open WebUI',
      note: 'runsInContainer',
      setups: { form: 'open-webui-form', Docker: 'open-webui-docker' },
    },
    {
      name: 'LobeChat',
      note: 'runsInContainer',
      setups: { form: 'lobechat-form', Docker: 'lobechat-docker' },
    },
    { name: 'Cherry Studio', setups: { import: 'cherry-studio-link', form: 'cherry-studio-form' } },
    { name: 'other', setups: { form: 'other-client-form' } },
  ],
}
