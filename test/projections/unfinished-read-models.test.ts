import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { dropUnfinishedReadModels } from '#projections/rebuild-and-verification-schemas/query.ts'
import { type Rebuilt, rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { type RunningProjections, runningProjections, userCreated, userErased } from './fixture.ts'

let fixture: RunningProjections

beforeEach(async () => {
  fixture = await runningProjections()
  await fixture.settled(await fixture.append([userCreated(1, 'root', 100), userCreated(2, 'gone')]))
})
afterEach(() => fixture.close())

async function unfinished(): Promise<string[]> {
  const { rows } = await fixture.core.pg.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname ~ '^read_.*_(next|check)$' order by 1`,
  )
  return rows.map(({ name }) => name)
}

const rebuild = (options = {}): Promise<Rebuilt> =>
  rebuildReadModels(fixture.core, PROJECTIONS, foldContext(fixture.core), options)

/** Runs `work` while a rebuild has filled its tables, and waits for the swap. */
async function whileRebuilt(work: () => Promise<unknown>): Promise<void> {
  const rebuilding = await inTransaction(fixture.core.pg, async (client) => {
    await client.query('lock table projections.lane in share row exclusive mode')
    const rebuilding = rebuild()
    const waiting = () =>
      fixture.core.pg
        .query(`select from pg_locks l join pg_class c on c.oid = l.relation
                where c.relname = 'lane' and not l.granted
                  and l.mode = 'ShareRowExclusiveLock'`)
        .then(({ rowCount }) => rowCount)
    await expect.poll(waiting).toBe(1)
    await work()
    return { rebuilding }
  })
  await rebuilding.rebuilding
}

describe('the tables of a rebuild that does not end', () => {
  it('are dropped if it is aborted', async () => {
    const stop = new AbortController()
    const onProgress = () => stop.abort()
    // The events are read in one page, so the signal is noticed in the swap.
    await expect(rebuild({ signal: stop.signal, onProgress })).rejects.toThrow(/abort/i)
    expect(await unfinished()).toEqual([])
  })

  it('are dropped if it fails', async () => {
    const context = {
      ...foldContext(fixture.core),
      open: async () => {
        throw new Error('unreadable')
      },
    }
    const failing = rebuildReadModels(fixture.core, PROJECTIONS, context)
    await expect(failing).rejects.toThrow('unreadable')
    expect(await unfinished()).toEqual([])
  })

  it('are dropped by the cleanup if its process was killed', async () => {
    const { pg } = fixture.core
    await pg.query('create schema read_users_next; create schema read_channel_checks_check')
    await Promise.all([dropUnfinishedReadModels(pg), dropUnfinishedReadModels(pg)])
    expect(await unfinished()).toEqual([])
  })
})

describe('a running rebuild', () => {
  it('keeps its tables during a cleanup', async () => {
    await whileRebuilt(async () => {
      const before = await unfinished()
      expect(before).toContain('read_users_next')
      await fixture.core.pg.query('create schema read_tokens_check')
      await dropUnfinishedReadModels(fixture.core.pg)
      expect(await unfinished()).toEqual(before)
    })
    expect(await unfinished()).toEqual([])
  })

  it('contains nothing of a user who is erased meanwhile', async () => {
    await whileRebuilt(async () => {
      const { rows } = await fixture.core.pg.query(
        `select from read_users_next.users where username = 'gone'`,
      )
      expect(rows).toHaveLength(1)
      await fixture.append([userErased(2)])
    })
    const name = async () => {
      const text = 'select username from read_users.users where id = 2'
      return (await fixture.core.pg.query(text)).rows
    }
    await expect.poll(name).toEqual([{ username: '' }])
    expect(await unfinished()).toEqual([])
  })
})
