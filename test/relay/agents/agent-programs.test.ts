import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import {
  addFamilyChannel,
  CALL_USAGE,
  CHARGES,
  FAMILIES,
  providerOfAllFormats,
  SENTENCE,
  TEXT_USAGE,
  type Turn,
} from '../clients/provider-families.ts'
import { KEY, relayRig } from '../support/relay-rig.ts'
import { findAgents } from './installed-agents.ts'

/** An agent must not take longer, even on a busy machine. */
const RUN_MS_MAX = 100_000

type AgentRun = {
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** The files of the agent's home folder, by their path in it. */
  readonly homeFiles?: Readonly<Record<string, string>>
  /** The files of the folder in which the agent works. */
  readonly workFiles?: Readonly<Record<string, string>>
}

type AgentResult = { readonly code: number | null; readonly output: string }

/**
 * Runs an agent in a home folder and a working folder of its own, without a terminal. It inherits
 * nothing but the PATH. Its traffic to anything but this machine goes to a proxy that does not
 * exist.
 */
async function runAgent(agent: AgentRun): Promise<AgentResult> {
  const root = await mkdtemp(join(process.cwd(), 'node_modules', '.cache', 'agent-'))
  const home = join(root, 'home')
  const work = join(root, 'work')
  try {
    await writeFiles(home, agent.homeFiles)
    await writeFiles(work, agent.workFiles)
    return await spawned(agent, home, work)
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function writeFiles(folder: string, files: AgentRun['homeFiles'] = {}): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

const NOWHERE = 'http://127.0.0.1:9'

function spawned({ command, env }: AgentRun, home: string, work: string): Promise<AgentResult> {
  const [program, ...args] = command
  const child = spawn(program, args, {
    cwd: work,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      HTTPS_PROXY: NOWHERE,
      HTTP_PROXY: NOWHERE,
      NO_PROXY: '127.0.0.1,localhost',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // The streams are joined at the end, because a warning can otherwise split a printed sentence.
  let printed = ''
  let warnings = ''
  child.stdout.on('data', (bytes: Buffer) => {
    printed += bytes.toString('utf8')
  })
  child.stderr.on('data', (bytes: Buffer) => {
    warnings += bytes.toString('utf8')
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output: `${warnings}\n${printed}` })
    })
  })
}

const agents = findAgents()
const missing = 'missing' in agents ? agents.missing : null
const bin = 'bin' in agents ? agents.bin : ''
const FILE = { name: 'notes.txt', text: 'the harvest was good' }
const PROMPT = `Read ${FILE.name} and answer.`

type Agent = {
  readonly name: string
  readonly model: string
  /** The agent's own tool that reads the file, as the model calls it. */
  readonly call: { readonly name: string; readonly args: object }
  readonly run: (url: string) => Omit<AgentRun, 'workFiles'>
}

const CLAUDE_CODE: Agent = {
  name: 'Claude Code',
  model: 'claude-sonnet-5-5',
  call: { name: 'Bash', args: { command: `cat ${FILE.name}`, description: 'Read notes' } },
  run: (url) => ({
    command: [
      `${bin}/claude`,
      '-p',
      PROMPT,
      '--model',
      'claude-sonnet-5-5',
      '--allowedTools',
      'Bash',
    ],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: `sk-${KEY}`,
      ANTHROPIC_SMALL_FAST_MODEL: 'claude-sonnet-5-5',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
  }),
}

const codex = (name: string, settings: readonly string[]): Agent => ({
  name,
  model: 'gpt-5.1-codex',
  call: { name: 'exec_command', args: { cmd: `cat ${FILE.name}` } },
  run: (url) => ({
    command: [
      `${bin}/codex`,
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT],
    ],
    env: { TALLYGATE_KEY: `sk-${KEY}` },
    homeFiles: {
      '.codex/config.toml': [
        'model = "gpt-5.1-codex"',
        'model_provider = "tallygate"',
        'check_for_update_on_startup = false',
        '[analytics]',
        'enabled = false',
        '[model_providers.tallygate]',
        'name = "Tallygate"',
        `base_url = "${url}/v1"`,
        'env_key = "TALLYGATE_KEY"',
        'wire_api = "responses"',
        ...settings,
      ].join('\n'),
    },
  }),
})

const GEMINI_CLI: Agent = {
  name: 'Gemini CLI',
  model: 'gemini-2.5-pro',
  call: { name: 'read_file', args: { file_path: FILE.name } },
  run: (url) => ({
    command: [`${bin}/gemini`, '-p', PROMPT, '-m', 'gemini-2.5-pro', '--yolo'],
    env: {
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: `sk-${KEY}`,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    homeFiles: {
      '.gemini/settings.json': JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
      }),
    },
  }),
}

const AGENTS = [
  CLAUDE_CODE,
  codex('Codex', []),
  codex('Codex on a websocket', ['supports_websockets = true']),
  GEMINI_CLI,
]
let agent: Agent = CLAUDE_CODE

/** Reads the file with the agent's tool, and answers once the tool's result is in the request. */
function readFileTurn(body: string): Turn {
  const { call } = agent
  const hasTool = body.includes(`"${call.name}"`)
  if (!hasTool || body.includes(FILE.text)) {
    return { kind: 'text', text: SENTENCE, usage: TEXT_USAGE }
  }
  return { kind: 'call', ...call, usage: CALL_USAGE }
}

const provider = startedForEach(() => providerOfAllFormats(readFileTurn))
const rig = startedForEach(relayRig)

describe.each(AGENTS)('$name', (one) => {
  beforeEach(async () => {
    agent = one
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.setOption('ModelRatio', { [one.model]: 1.25 })
    await rig.setOption('CompletionRatio', { [one.model]: 4 })
    await rig.setOption('CacheRatio', { [one.model]: 0.5 })
  })

  it.for(FAMILIES)('works through the gateway on a channel of $name', async (family, { skip }) => {
    if (missing !== null) skip(missing)
    await addFamilyChannel(rig, family, provider.url, one.model)
    const { output } = await runAgent({
      ...one.run(rig.url),
      workFiles: { [FILE.name]: FILE.text },
    })
    // Codex says so if it can't use the websocket.
    expect(output).not.toContain('Falling back from WebSockets')
    expect(output).toContain(SENTENCE)
    expect(provider.requests.some(({ body }) => body.includes(FILE.text))).toBe(true)
    const ends = (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
    for (const { type, data } of ends) {
      expect([type, data]).toMatchObject(['CallSettled', { end: 'done' }])
      expect(Object.values(CHARGES)).toContain((data as { charge: number }).charge)
    }
  })
})
