import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Prints the skipped tests and the reasons at the end of a run. A reason is the note of the skip,
 * or the title of the suite or test.
 */
export class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = new Map<string, number>()
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const line = `${module.relativeModuleId}: ${reasonOf(test)}`
        lines.set(line, (lines.get(line) ?? 0) + 1)
      }
    }
    for (const [line, count] of lines) process.stdout.write(`skipped ${count} × ${line}\n`)
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  if (note !== undefined) return note
  const { parent } = test
  return parent.type === 'suite' ? parent.fullName : test.name
}
