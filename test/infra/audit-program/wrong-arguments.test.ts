import { expect, it, vi } from 'vitest'
import { runAuditProgram } from '#infra/audit-program/audit-program.ts'

const REFUSED: readonly (readonly [message: RegExp, ...args: string[]])[] = [
  [/"100"/, 'balance', '2', '100'],
  [/"alice"/, 'balance', 'alice', '--export', 'nowhere'],
  [/"3"/, 'ledger', '2', '3'],
  [/"3"/, 'statement', '2', '3', '--month', '2026-11'],
  [/"foo"/, 'witness', 'foo'],
  [/"foo"/, 'recompute', 'foo'],
  [/"foo"/, 'rebuild-tiles', 'foo'],
  [/"b"/, 'export', 'a', 'b'],
  [/"foo"/, 'receipt', '2', 'foo'],
  [/--position/, 'receipt', '2', '--position', '5'],
  [/--to.*--from/, 'ledger', '2', '--from', '2026-12-01T00:00Z', '--to', '2026-11-01T00:00Z'],
  [/--to.*--from/, 'ledger', '2', '--from', '7', '--to', '6'],
]

it.each(REFUSED.map(([message, ...args]) => ({ message, args })))(
  'the audit program refuses $args',
  async ({ message, args }) => {
    const [output, errors] = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
    for (const spy of [output, errors]) spy.mockReturnValue(true)
    try {
      // The folder of the site does not exist, so only an argument can be refused with 2.
      const environment = { DATA_DIR: '/nonexistent' }
      expect(await runAuditProgram(args, environment, new AbortController().signal)).toBe(2)
      expect(errors.mock.calls).toEqual([[expect.stringMatching(message)]])
      expect(output).not.toHaveBeenCalled()
    } finally {
      for (const spy of [output, errors]) spy.mockRestore()
    }
  },
)
