import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

export type Table = {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const FILE = join(import.meta.dirname, 'RESULTS.md')

/** Returns the table in Markdown. */
export function markdownOf({ title, head, rows }: Table): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return `## ${title}\n\n${lines.join('\n')}\n`
}

/** Describes the machine, the commit and the load before the run. */
export function describeRun(options: string): string {
  const git = (...parameters: string[]) =>
    execFileSync('git', parameters, { encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--untracked-files=no', ':!test/bench') !== ''
  const [cpu] = cpus()
  return [
    `- Commit: ${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    `- Node ${process.version}, load before the run: ${loadavg()[0]?.toFixed(2)}`,
    `- ${options}`,
  ].join('\n')
}

export function writeResults(run: string, tables: readonly Table[]): void {
  const text = `# Results of \`npm run bench\`\n\nWritten by the program.\n\n${run}\n`
  writeFileSync(FILE, `${text}\n${tables.map(markdownOf).join('\n')}`)
}
