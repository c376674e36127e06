import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The agents with the versions that are tested. Together they have about 760 MB. */
const AGENTS = {
  '@anthropic-ai/claude-code': '2.1.332',
  '@google/gemini-cli': '0.61.0',
  '@openai/codex': '0.171.0',
}
const INSTALL_MS_MAX = 240_000

/** The folder of the agents' programs, or what is missing. */
export type Agents = { readonly bin: string } | { readonly missing: string }

const folder = (): string => {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const versions = Object.values(AGENTS).join('-')
  return join(cache, 'tallygate', `agents-${versions}`)
}
const binOf = (installed: string): string => join(installed, 'node_modules', '.bin')

export const findAgents = (): Agents =>
  existsSync(folder())
    ? { bin: binOf(folder()) }
    : { missing: 'the agents are not installed (node test/relay/agents/fetch-agents.ts)' }

/**
 * Installs the agents outside the repository, once per machine. They are not dependencies, because
 * they are large and only a few tests need them.
 */
export async function installAgents(): Promise<Agents> {
  const target = folder()
  if (existsSync(target)) return { bin: binOf(target) }
  try {
    await mkdir(dirname(target), { recursive: true })
    const working = await mkdtemp(`${target}-`)
    try {
      const content = { private: true, dependencies: AGENTS }
      await writeFile(join(working, 'package.json'), JSON.stringify(content))
      const args = ['install', '--no-audit', '--no-fund', '--loglevel=error']
      await run('npm', args, { cwd: working, timeout: INSTALL_MS_MAX })
      await rename(working, target).catch((error: unknown) => {
        if (!existsSync(target)) throw error
      })
    } finally {
      await rm(working, { recursive: true, force: true })
    }
    return { bin: binOf(target) }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    return { missing: `npm could not install the agents (${reason})` }
  }
}
