/**
 * The values that are inserted into the templates. `site` is the public address of the site without
 * a final slash. `name` is the name of the site.
 */
type SetupValues = Record<'site' | 'name' | 'key' | 'model' | 'smallModel', string>

export type Client = {
  readonly name: string
  /**
   * Matches the names of the models that are suggested first. Any other chat model works as well,
   * because the gateway converts calls.
   */
  readonly prefers?: RegExp
  readonly note?: 'calledFromServers' | 'needsHttps' | 'runsInContainer'
  /**
   * The texts with which a user connects the client to this site, such as a code example, a
   * configuration file or a link. Each key is the title of a tab, and its value is the name of a
   * file in `templates/`, without `.txt`. The titles `form` and `import` are translated. If the
   * name ends with `form`, each line of the file is a field of a form. If the name ends with
   * `link`, the file contains a link that opens the client.
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

/** The functions that escape a value, by name. A placeholder selects a function by this name. */
const ESCAPES: Readonly<Record<string, (text: string) => string>> = {
  /**
   * Escapes a value for a quoted string in JSON, JavaScript, Python or TOML, which use the same
   * escape sequences.
   */
  json,
  shell,
  body: (text) => shell(json(text)),
  url: (text) => encodeURIComponent(text.toWellFormed()).replaceAll("'", '%27'),
}

/**
 * Encodes a text for a link to Cherry Studio: as base64, with `_` and `-` instead of `+` and `/`.
 * Apostrophes and round brackets are removed, because Cherry Studio can't read them.
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
 * Returns the address of the site for a program that runs in a container. A loopback address, which
 * would mean the container itself, is replaced by the name that Docker gives to the host.
 */
export function containerSiteOf(site: string): string {
  const address = URL.parse(site)
  if (address === null || !LOOPBACK.test(address.hostname)) return site
  address.hostname = CONTAINER_HOST
  return address.href.replace(/\/$/, '')
}

/** On Linux, Docker gives the host a name only with this flag. */
const HOST_FLAG = `\n  --add-host=${CONTAINER_HOST}:host-gateway \\`

/**
 * Returns the text of a template with the values: `{{model}}` is replaced by the value `model`. The
 * placeholder `{{model, json}}` also escapes the value, with the function `json` of `ESCAPES`.
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
 * The client programs by kind. Their names and the names of their fields are not translated,
 * because the programs show these names in every language.
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
