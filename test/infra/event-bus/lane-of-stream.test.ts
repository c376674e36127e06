import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { LANE_COUNT, laneKeyOf, laneOf } from '#infra/event-bus/lane-of-stream.ts'
import { LANE_OF_STREAM } from '#infra/event-store/postgres-event-reader.ts'
import { testDatabase } from '#test/support/test-database.ts'

describe('the lane of a stream', () => {
  it('depends on the id alone, not on the kind of the stream', () => {
    expect(laneKeyOf('account-7')).toBe('7')
    expect(laneOf('account-7')).toBe(laneOf('user-7'))
    expect(laneOf('options')).toBe(laneOf('options'))
  })

  it('never changes, because stored offsets depend on it', () => {
    const lanes = ['account-1', 'account-2', 'account-3', 'account-1000', 'options', 'site']
    expect(lanes.map(laneOf)).toEqual([1, 2, 3, 0, 3, 1])
  })

  it('distributes accounts evenly', () => {
    const counts = new Array<number>(LANE_COUNT).fill(0)
    for (let id = 1; id <= 8_000; id += 1) {
      const lane = laneOf(`account-${id}`)
      counts[lane] = (counts[lane] ?? 0) + 1
    }
    expect(counts).toEqual(counts.map(() => 1_000))
  })

  it('is the same when Postgres calculates it', async () => {
    const { url, drop } = await testDatabase()
    const client = new Client({ connectionString: url })
    await client.connect()
    const ids = [
      '',
      '7',
      '42',
      '123456',
      'a',
      'émile',
      '名',
      '名前',
      '😀',
      'a😀',
      '😀bc',
      'ab😀d',
      '👩‍🚀',
      'x-',
    ]
    const streams = ['options', 'site', ...ids.map((id) => `username-${id}`)]
    const { rows } = await client.query<{ lane: number }>(
      `select ${LANE_OF_STREAM} as lane
       from unnest($1::text[]) with ordinality as s (stream, place) order by place`,
      [streams],
    )
    await client.end()
    await drop()
    expect(rows.map(({ lane }) => lane)).toEqual(streams.map(laneOf))
  })
})
