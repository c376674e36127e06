import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { openSealedLog } from '#infra/audit-program/open-sealed-log.ts'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
} from '#infra/audit-program/signed-checkpoint.ts'
import { leafHash } from '#infra/audit-program/stored-record.ts'
import { postgresRecords } from '#infra/audit-program/stored-record-reader.ts'
import { KeyRing } from '#infra/audit-program/trusted-log-keys.ts'
import {
  compareEventsWithLog,
  type LogFinding,
} from '#infra/transparency-log/compare-events-with-log.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { isConsistent, isIncluded } from '#infra/transparency-log/merkle-tree.ts'
import { createNoteSigner, noteOf } from '#infra/transparency-log/note-signer.ts'
import {
  ensureLogSchema,
  openTransparencyLog,
  type TransparencyLog,
  WrongLogKey,
} from '#infra/transparency-log/open-log.ts'
import { proveEvents, SealedEventChanged } from '#infra/transparency-log/prove-events.ts'
import { listCheckpoints, storedTree } from '#infra/transparency-log/read-checkpoints-and-tiles.ts'
import {
  EVENTS_PER_CHECKPOINT_MAX,
  LogMismatch,
  sealEvents,
} from '#infra/transparency-log/seal-events.ts'
import { startSealer } from '#infra/transparency-log/sealer.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { testCore } from '#test/support/test-core.ts'

const running = startedForEach(() => testCore())
let log: TransparencyLog

const deps = () => {
  const { core } = running
  return { pg: core.pg, log, readLeaves: leafReader(core), arePositionsDense: true, now: core.now }
}
const seal = () => sealEvents(deps())
const sql = (text: string, values: unknown[] = []) => running.core.pg.query(text, values)

async function append(count: number, stream = `user-${randomUUID()}`): Promise<void> {
  const events = Array.from({ length: count }, (_, i) => ({
    id: randomUUID(),
    type: 'Noted',
    v: 1,
    data: { text: `Grüße ${i} 额度 \u0000 "quoted" \\x41`, amount: i },
    meta: { actor: 'user:7', cause: i % 2 === 0 ? null : 'request-1', at: 1_795_248_000_000 + i },
  }))
  for (let i = 0; i < count; i += 500) {
    await running.core.store.append([{ stream, expected: 'any', events: events.slice(i, i + 500) }])
  }
}

async function findings(): Promise<LogFinding[]> {
  const { core } = running
  const keys = new KeyRing([log.signer.verifierKey])
  const found: LogFinding[] = []
  const comparing = { pg: core.pg, readLeaves: leafReader(core), keys, arePositionsDense: true }
  for await (const finding of compareEventsWithLog(comparing)) found.push(finding)
  return found
}

beforeEach(async () => {
  await ensureLogSchema(running.core)
  log = await openTransparencyLog(running.core)
})

describe('sealing', () => {
  it('computes the same leaf hashes in Postgres as from the bytes of the events', async () => {
    await append(40)
    const records = await postgresRecords(running.core.pg).read(0, 100)
    const { hashes, positions } = await leafReader(running.core)(0, 100)
    expect(positions).toEqual(records.map(({ position }) => position))
    expect(hashes.map((hash) => hash.toString('hex'))).toEqual(
      records.map((record) => leafHash(record).toString('hex')),
    )
  })

  it('signs checkpoints that continue each other and include every event', async () => {
    for (const count of [1, 254, 1, 3, 600]) {
      await append(count)
      expect(await seal()).toBe(count)
      expect(await seal()).toBe(0)
    }
    const { pg } = running.core
    const checkpoints = (await listCheckpoints(pg, 10)).toReversed()
    expect(checkpoints.map(({ size }) => size)).toEqual([1, 255, 256, 259, 859])
    const tree = storedTree(pg)
    const last = checkpoints[4]
    if (last === undefined) throw new Error('no checkpoint')
    for (const { size, root, note } of checkpoints) {
      expect(await tree.root(size)).toEqual(root)
      expect(isConsistent({ size, root }, last, await tree.consistencyProof(size, 859))).toBe(true)
      const parsed = parseSignedCheckpoint(note)
      expect(isSignedBy(parsed, parseVerifierKey(log.signer.verifierKey))).toBe(true)
      expect([parsed.origin, parsed.size]).toEqual([log.origin, size])
    }
    const records = await postgresRecords(pg).read(0, 1_000)
    for (const { size, root, lastPosition, ...checkpoint } of checkpoints) {
      const proofs = await proveEvents(pg, records, { size, root, lastPosition, ...checkpoint })
      for (const [i, record] of records.entries()) {
        const proof = proofs[i] ?? null
        expect(proof === null).toBe(record.position > lastPosition)
        if (proof === null) continue
        const at = { index: proof.index, size, root }
        expect(isIncluded(at, leafHash(record), proof.path)).toBe(true)
      }
    }
    expect(await findings()).toEqual([])
  })

  it('seals each event once if fifty sealers run at once', async () => {
    await append(900)
    const sealed = await Promise.all(Array.from({ length: 50 }, () => seal()))
    expect(sealed.reduce((sum, count) => sum + count, 0)).toBe(900)
    expect(await findings()).toEqual([])
  })

  it('leaves nothing if it fails before its end', async () => {
    await append(300)
    const broken = {
      ...log,
      signer: {
        ...log.signer,
        sign: () => {
          throw new Error('killed')
        },
      },
    }
    await expect(sealEvents({ ...deps(), log: broken })).rejects.toThrow('killed')
    expect((await sql('select count(*)::int n from transparency_log.tiles')).rows).toEqual([
      { n: 0 },
    ])
    expect(await seal()).toBe(300)
    expect(await findings()).toEqual([])
  })

  it('does not wait for its time if a whole checkpoint of events is there', async () => {
    const sizes = async () =>
      (await listCheckpoints(running.core.pg, 10)).map(({ size }) => size).toReversed()
    await append(1)
    const sealer = await startSealer(running.core, { everyMs: 3_600_000 })
    try {
      await expect.poll(sizes, { timeout: 30_000 }).toEqual([1])
      await append(EVENTS_PER_CHECKPOINT_MAX)
      const size = 1 + EVENTS_PER_CHECKPOINT_MAX
      await expect.poll(sizes, { timeout: 60_000 }).toEqual([1, size])
    } finally {
      await sealer.stop()
    }
  }, 120_000)

  it('needs the key with which the log was begun', async () => {
    const key = Buffer.alloc(32, 7)
    const { config, pg, vault } = running.core
    const other = { ...config, transparencyLog: { ...config.transparencyLog, key } }
    await expect(openTransparencyLog({ config: other, pg, vault })).rejects.toThrow(WrongLogKey)
  })
})

describe('a history that was changed by SQL', () => {
  beforeEach(async () => {
    await append(300, 'user-1')
    await append(300, 'user-2')
    await seal()
  })

  const summary = async () => (await findings()).map(({ kind, position }) => `${kind} ${position}`)
  const refusesToSeal = async () => {
    await append(5, 'user-3')
    await expect(seal()).rejects.toThrow(LogMismatch)
  }

  it('shows one changed byte', async () => {
    await sql(`update event_store.events set data = replace(data, '"amount":7', '"amount":8')
      where position = 8`)
    expect(await summary()).toEqual(['event-changed 8'])
  })

  it('shows a changed byte in the newest events, and signs no further checkpoint', async () => {
    await sql("update event_store.events set actor = 'user:8' where position = 590")
    expect(await summary()).toEqual(['event-changed 590'])
    await refusesToSeal()
  })

  it('shows a deleted event, and signs no further checkpoint if it is a new one', async () => {
    await sql('delete from event_store.events where position in (20, 595)')
    expect(await summary()).toEqual(['event-missing 20', 'event-missing 595'])
    await refusesToSeal()
  })

  it('shows two events that were swapped', async () => {
    await sql('update event_store.events set position = 100000 where position = 30')
    await sql('update event_store.events set position = 30 where position = 40')
    await sql('update event_store.events set position = 40 where position = 100000')
    expect(await summary()).toEqual(['event-changed 30', 'event-changed 40'])
  })

  it('shows an inserted event, with those that moved to make room for it', async () => {
    await sql('update event_store.events set position = position + 100000 where position > 500')
    await sql('update event_store.events set position = position - 99999 where position > 100000')
    await sql(`insert into event_store.events
      select 501, 'user-9', 0, gen_random_uuid(), type, v, data, actor, cause, at
      from event_store.events where position = 1`)
    expect((await summary())[0]).toBe('event-changed 501')
    expect(await summary()).toHaveLength(100)
  })

  it('shows a tail that was cut off', async () => {
    await sql('delete from event_store.events where position > 550')
    await sql('update event_store.head set position = 550')
    expect(await summary()).toEqual(['event-missing 551'])
  })

  it('shows a stream that was removed', async () => {
    await sql("delete from event_store.events where stream = 'user-1'")
    const kinds = await summary()
    expect(kinds.slice(0, 2)).toEqual(['event-missing 1', 'event-missing 2'])
    expect(kinds).toHaveLength(300)
  })

  it('shows tiles that were changed to fit a changed event', async () => {
    await sql("update event_store.events set actor = 'user:8' where position = 9")
    const { hashes } = await leafReader(running.core)(0, 256)
    await sql('update transparency_log.tiles set hashes = $1 where level = 0 and index = 0', [
      Buffer.concat(hashes),
    ])
    expect(await summary()).toEqual(['tile-changed 1'])
  })

  it('proves no event of a lost tile, and tells it from a changed event', async () => {
    const { pg } = running.core
    await sql("update event_store.events set actor = 'user:8' where position = 10")
    await sql('delete from transparency_log.tiles where level = 0 and index in (1, 2)')
    const [checkpoint] = await listCheckpoints(pg, 1)
    if (checkpoint === undefined) throw new Error('nothing is sealed')
    const proofOf = async (position: number) =>
      await proveEvents(pg, await postgresRecords(pg).read(position - 1, 1), checkpoint)
    await expect(proofOf(10)).rejects.toThrow(SealedEventChanged)
    await expect(proofOf(257)).rejects.toMatchObject({ name: 'MissingHash', tile: '0/1' })
    await sql('delete from transparency_log.tiles where level = 0 and index = 0')
    await expect(proofOf(11)).rejects.toMatchObject({ name: 'MissingHash', tile: '0/0' })
  })

  it('shows between which checkpoints an event was changed together with its tile', async () => {
    for (const count of [5, 5, 5]) {
      await append(count, 'user-3')
      await seal()
    }
    await sql("update event_store.events set actor = 'user:8' where position = 603")
    const { hashes } = await leafReader(running.core)(512, 103)
    await sql('update transparency_log.tiles set hashes = $1 where level = 0 and index = 2', [
      Buffer.concat(hashes),
    ])
    expect(await findings()).toEqual([
      {
        ...{ kind: 'checkpoint-changed', position: 601, code: 'TilesDifferFromCheckpoints' },
        params: { from: 601, to: 605, agreed: 600, size: 605, count: 3 },
      },
    ])
  })

  it('shows an edited checkpoint between others that agree', async () => {
    await append(5, 'user-3')
    await seal()
    await append(5, 'user-3')
    await seal()
    await sql('update transparency_log.checkpoints set root = $1 where size = 605', [
      Buffer.alloc(32),
    ])
    const params = { from: 601, to: 605, agreed: 600, size: 605, count: 1 }
    expect(await findings()).toMatchObject([{ code: 'TilesDifferFromCheckpoints', params }])
  })

  it('shows adjacent lost tiles as one range', async () => {
    await append(600, 'user-3')
    await seal()
    await sql('delete from transparency_log.tiles where level = 0 and index in (0, 2, 3)')
    expect(await findings()).toMatchObject([
      { code: 'TileMissing', params: { tile: '0', first: 1, last: 256 } },
      { code: 'TilesMissing', params: { firstTile: 2, lastTile: 3, first: 513, last: 1024 } },
    ])
  })

  it.each([
    ['a lost tile', 'delete from transparency_log.tiles where level = 0 and index = 0'],
    [
      'a tile that lost hashes',
      `update transparency_log.tiles set hashes = substr(hashes, 1, 320)
        where level = 0 and index = 0`,
    ],
  ])('shows %s, and no event as changed', async (_, attack) => {
    await sql(attack)
    expect(await findings()).toEqual([
      {
        ...{ kind: 'tile-missing', position: 1, code: 'TileMissing' },
        params: { tile: '0', first: 1, last: 256 },
      },
    ])
    const sealed = await openSealedLog(running.core)
    const { hashes } = await leafReader(running.core)(0, 600)
    expect((await sealed?.leafHashes(250, 20))?.slice(6)).toEqual(hashes.slice(256, 270))
    expect((await sealed?.leafHashes(250, 20))?.slice(0, 6)).toEqual(Array(6).fill(null))
    expect(await sealed?.leafHashes(599, 20)).toEqual(hashes.slice(599))
  })

  it('shows a checkpoint that was signed with another key', async () => {
    const { rows } = await sql('select body from transparency_log.checkpoints')
    const other = createNoteSigner(log.origin, Buffer.alloc(32, 9))
    const body = rows[0]?.body as string
    expect(
      isSignedBy(
        parseSignedCheckpoint(noteOf(body, [other.sign(body)])),
        parseVerifierKey(other.verifierKey),
      ),
    ).toBe(true)
    await sql('update transparency_log.checkpoints set signatures = $1', [[other.sign(body)]])
    expect(await summary()).toEqual(['checkpoint-signed-by-another-key 600'])
    await refusesToSeal()
  })
})
