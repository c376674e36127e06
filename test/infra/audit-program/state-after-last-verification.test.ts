import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endsToRead, rememberAdmission } from '#domain/audit/admitted-calls-and-their-ends.ts'
import { initialAudit } from '#domain/audit/state.ts'
import { GrowingTree } from '#infra/audit-program/append-only-merkle-tree.ts'
import {
  ensureAuditTables,
  PART_BYTES_MAX,
  readVerified,
  writeVerified,
} from '#infra/audit-program/state-after-last-verification.ts'
import { testCore } from '#test/support/test-core.ts'

let running: Awaited<ReturnType<typeof testCore>>

beforeAll(async () => {
  running = await testCore()
  await ensureAuditTables(running.core.pg)
}, 180_000)

afterAll(() => running.close())

const CALLS = 400_000

/** A state whose calls need two parts. */
function largeState() {
  const state = initialAudit({ remembers: 'positions' })
  for (let n = 0; n < CALLS; n += 1) rememberAdmission(state.remembered, `call-${n}`)
  state.position = 2 * CALLS
  state.revisions.set('account-1', CALLS)
  const tree = new GrowingTree()
  for (let n = 0; n < 3; n += 1) tree.append(Buffer.alloc(32, n))
  return { state, tree, nextTile: 5, nextAccount: 7 }
}

describe('the stored state of an audit', { timeout: 180_000 }, () => {
  it('is stored in parts of bounded size, and read as it was', async () => {
    const { core } = running
    const large = largeState()
    await writeVerified(core, large)
    const { rows } = await core.pg.query<{ length: number }>(
      'select octet_length(bytes) as length from audit_jobs.verified_parts',
    )
    expect(rows.length).toBeGreaterThan(3)
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(PART_BYTES_MAX)
    const read = await readVerified(core)
    expect(read).toMatchObject({ nextTile: 5, nextAccount: 7 })
    expect(read?.tree.root()).toEqual(large.tree.root())
    expect(read?.state.position).toBe(2 * CALLS)
    expect(read?.state.revisions).toEqual(large.state.revisions)
    const remembered = read?.state.remembered ?? large.state.remembered
    expect(endsToRead(remembered, ['call-1'])).toEqual([])
    const repeated = [0, 1, CALLS - 1].map((n) => rememberAdmission(remembered, `call-${n}`))
    expect(repeated).toEqual([false, false, false])
    expect(rememberAdmission(remembered, 'another call')).toBe(true)
  })

  it('is replaced by a smaller one, whose parts alone are left', async () => {
    const { core } = running
    const small = { state: initialAudit({ remembers: 'positions' }), nextTile: 0, nextAccount: 0 }
    await writeVerified(core, { ...small, tree: new GrowingTree() })
    const { rows } = await core.pg.query('select section from audit_jobs.verified_parts')
    expect(rows.length).toBe(4)
    expect((await readVerified(core))?.state).toEqual(small.state)
  })

  it.each([
    ['a changed byte', 'update audit_jobs.verified_parts set bytes = set_byte(bytes, 9, 255)'],
    ['a removed part', 'delete from audit_jobs.verified_parts where section = 2'],
    ['no part', 'delete from audit_jobs.verified_parts'],
  ])('is not trusted with %s', async (_, edit) => {
    const { core } = running
    const state = initialAudit({ remembers: 'positions' })
    rememberAdmission(state.remembered, 'a call')
    await writeVerified(core, { state, tree: new GrowingTree(), nextTile: 0, nextAccount: 0 })
    expect(await readVerified(core)).not.toBeNull()
    await core.pg.query(edit)
    expect(await readVerified(core)).toBeNull()
  })
})
