import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { KeyRing } from '#infra/audit-program/trusted-log-keys.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import {
  ensureLogSchema,
  openTransparencyLog,
  type TransparencyLog,
} from '#infra/transparency-log/open-log.ts'
import { rebuildLostTiles } from '#infra/transparency-log/rebuild-lost-tiles.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { testCore } from '#test/support/test-core.ts'

const running = startedForEach(() => testCore())
let log: TransparencyLog

const sql = (text: string, values: unknown[] = []) => running.core.pg.query(text, values)

async function appendAndSeal(count: number): Promise<void> {
  const { core } = running
  const events = Array.from({ length: count }, () => ({
    id: randomUUID(),
    ...{ type: 'Noted', v: 1, data: {}, meta: { actor: 'user:1', cause: null, at: 1 } },
  }))
  await core.store.append([{ stream: 'user-1', expected: 'any', events }])
  const deps = { pg: core.pg, log, readLeaves: leafReader(core), now: core.now }
  await sealEvents({ ...deps, arePositionsDense: true })
}

/** Rebuilds, as for a store with dense positions or, without, for one with gaps. */
const rebuild = (arePositionsDense = true) => {
  const { pg } = running.core
  const keys = new KeyRing([log.signer.verifierKey])
  const readLeaves = leafReader(running.core)
  const ownKey = log.signer.verifierKey
  return rebuildLostTiles({ pg, readLeaves, arePositionsDense, ownKey, keys })
}

async function tiles() {
  const { rows } = await sql('select * from transparency_log.tiles order by level, index')
  return rows
}

beforeEach(async () => {
  await ensureLogSchema(running.core)
  log = await openTransparencyLog(running.core)
  for (const count of [300, 300, 20]) await appendAndSeal(count)
})

describe('lost tiles', () => {
  it('are none in a log that is complete', async () => {
    expect(await rebuild()).toEqual({ lost: [], findings: [] })
  })

  it.each([
    ['one full tile', 'delete from transparency_log.tiles where level = 0 and index = 1', ['0/1']],
    ['the last tile', 'delete from transparency_log.tiles where level = 0 and index = 2', ['0/2']],
    [
      'a tile that lost hashes',
      'update transparency_log.tiles set hashes = substr(hashes, 1, 33) where index = 0',
      ['0/0', '1/0'],
    ],
    ['the tile above', 'delete from transparency_log.tiles where level = 1', ['1/0']],
    ['all tiles', 'delete from transparency_log.tiles', ['0/0', '0/1', '0/2', '1/0']],
  ])('are rebuilt from the events: %s', async (_, loss, lost) => {
    const before = await tiles()
    for (const arePositionsDense of [true, false]) {
      await sql(loss)
      expect(await rebuild(arePositionsDense)).toEqual({ lost, findings: [] })
      expect(await tiles()).toEqual(before)
    }
    await appendAndSeal(10)
    expect(await rebuild()).toEqual({ lost: [], findings: [] })
  })

  const changed = (position: number) =>
    `update event_store.events set actor = 'user:2' where position = ${position}`
  it.each([
    {
      ...{ cause: 'a changed event', attack: changed(300), lost: 'level = 0 and index = 1' },
      finding: { code: 'RebuiltTileDiffers', params: { tile: '0/1', first: 257, last: 512 } },
    },
    {
      ...{ cause: 'events that lack some', lost: 'level = 0 and index = 2' },
      attack: 'delete from event_store.events where position > 610',
      finding: { code: 'RebuiltTileDiffers', params: { tile: '0/2', first: 513, last: 620 } },
    },
    {
      ...{ cause: 'a changed event of the last tile', lost: 'level = 0 and index = 2' },
      attack: changed(605),
      finding: {
        code: 'TilesDifferFromCheckpoints',
        params: { from: 601, to: 620, agreed: 600, size: 620, count: 1 },
      },
    },
    {
      ...{ cause: 'a changed event of a log without tiles', attack: changed(310), lost: 'true' },
      finding: {
        code: 'TilesDifferFromCheckpoints',
        params: { from: 301, to: 600, agreed: 300, size: 600, count: 2 },
      },
    },
    {
      ...{ cause: 'a log that another key has signed', lost: 'level = 1' },
      attack: `update transparency_log.checkpoints
        set signatures = array['— x AAAAAAAAAAA=' || chr(10)]`,
      finding: { code: 'SignerUnknown' },
    },
  ])('are not rebuilt from $cause', async ({ attack, lost, finding }) => {
    await sql(attack)
    await sql(`delete from transparency_log.tiles where ${lost}`)
    const before = await tiles()
    expect((await rebuild()).findings).toMatchObject([finding])
    expect(await tiles()).toEqual(before)
  })
})
