import { vi } from 'vitest'

/**
 * Runs the function of a command-line program in this process, and returns its exit code and what
 * it printed. A process that starts costs more than most commands.
 */
export async function printedBy(run: () => Promise<number>) {
  const spies = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
  for (const spy of spies) spy.mockReturnValue(true)
  try {
    const status = await run()
    const [output, errors] = spies.map(({ mock }) => mock.calls.map(([part]) => part).join(''))
    return { status, output: output ?? '', errors: errors ?? '' }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
