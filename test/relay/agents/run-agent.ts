import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** An agent must not take longer, even on a busy machine. */
const RUN_MS_MAX = 100_000

export type AgentRun = {
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** The files of the agent's home folder, by their path in it. */
  readonly homeFiles?: Readonly<Record<string, string>>
  /** The files of the folder in which the agent works. */
  readonly workFiles?: Readonly<Record<string, string>>
}

export type AgentResult = { readonly code: number | null; readonly output: string }

/**
 * Runs an agent in a home folder and a working folder of its own, without a terminal. It inherits
 * nothing but the PATH. Its traffic to anything but this machine goes to a proxy that does not
 * exist.
 */
export async function runAgent(agent: AgentRun): Promise<AgentResult> {
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
