import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Recorded } from '#domain/shared/event.ts'
import {
  decodeMessage,
  encodeMessage,
  gaplessBatches,
  type LaneMessage,
} from '#infra/event-bus/kafka/lane-message.ts'
import { createPublishedLanes } from '#infra/event-bus/kafka/publisher.ts'
import { ALL_LANES, laneOf } from '#infra/event-bus/lane-of-stream.ts'

const recorded = (position: number, data: object = {}, stream = 'account-1'): Recorded => ({
  ...{ id: randomUUID(), type: 'Happened', v: 1, data, stream, revision: position, position },
  meta: { actor: 'user:1', cause: null, at: 1_795_000_000_123 },
})

const asReceived = (message: ReturnType<typeof encodeMessage>) =>
  ({
    ...{ offset: '0', timestamp: '0', attributes: 0, key: null, value: message.value },
    headers: Object.fromEntries(
      Object.entries(message.headers ?? {}).map(([name, value]) => [
        name,
        Buffer.from(String(value)),
      ]),
    ),
  }) as Parameters<typeof decodeMessage>[0]

describe('a message', () => {
  it('contains an event exactly as the store returned it', () => {
    const data = { text: 'ä\u2028"\\', list: [1, -2.5, 1e21, null], ['__proto__']: { a: 1 } }
    const message = { after: 3, position: 7, event: recorded(7, data) }
    expect(decodeMessage(asReceived(encodeMessage(message, 'h')), 'h')).toEqual(message)
    const watermark = { after: 7, position: 9, event: null }
    expect(decodeMessage(asReceived(encodeMessage(watermark, 'h')), 'h')).toEqual(watermark)
  })

  it('is ignored if it belongs to another history or another program', () => {
    const message = asReceived(encodeMessage({ after: 1, position: 2, event: null }, 'h'))
    expect(decodeMessage(message, 'another')).toBeNull()
    const { headers: _none, ...bare } = message
    expect(decodeMessage(bare as typeof message, 'h')).toBeNull()
  })

  it('is unreadable if its headers are valid and its content is not', () => {
    const event = asReceived(encodeMessage({ after: 1, position: 2, event: recorded(2) }, 'h'))
    const watermark = asReceived(encodeMessage({ after: 1, position: 2, event: null }, 'h'))
    const key = Buffer.from('1')
    const values = ['', '{', 'null', '7', '{"position":2}', JSON.stringify(recorded(3))]
    for (const value of values.map((text) => Buffer.from(text))) {
      expect(decodeMessage({ ...event, value }, 'h')).toBe('unreadable')
      expect(decodeMessage({ ...event, value }, 'another')).toBeNull()
    }
    expect(decodeMessage({ ...watermark, key }, 'h')).toBe('unreadable')
  })
})

/**
 * Returns the messages that publishers would send about a lane with these events. There is one
 * publisher per start position.
 */
const publishedBy = (events: readonly number[], starts: readonly number[]): LaneMessage[] =>
  starts.flatMap((start) => {
    let after = start
    return events
      .filter((position) => position > start)
      .flatMap((position) => {
        const message = { after, position, event: recorded(position) }
        const watermark = { after: position, position: position + 1, event: null }
        after = events.includes(position + 1) ? position : position + 1
        return after === position ? [message] : [message, watermark]
      })
  })

describe('the events that a lane receives', () => {
  it('are complete except for visible gaps, even if messages repeat, are lost or late', () => {
    const positions = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 })
    const scenario = positions.chain((drawn) => {
      const events = drawn.toSorted((a, b) => a - b)
      const all = publishedBy(events, [0, 0, 20, 35])
      const received = fc.shuffledSubarray(all).chain((part) => fc.constant(part))
      return fc.record({
        events: fc.constant(events),
        received: fc.oneof(fc.constant(all), fc.subarray(all), received),
        delivered: fc.integer({ min: 0, max: 40 }),
      })
    })
    fc.assert(
      fc.property(scenario, ({ events, received, delivered }) => {
        let reached = delivered
        for (const { after, position, events: brought } of gaplessBatches(delivered, received)) {
          expect(after).toBeGreaterThanOrEqual(reached)
          expect(position).toBeGreaterThan(reached)
          const there = events.filter((each) => each > after && each <= position)
          expect(brought.map((event) => event.position)).toEqual(there)
          reached = position
        }
        const best = Math.max(delivered, ...received.map((message) => message.position))
        expect(reached).toBe(best)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the published lanes', () => {
  const start = new Map(ALL_LANES.map((lane) => [lane, 10]))

  it('publish where every lane begins, and then only what is new', () => {
    const lanes = createPublishedLanes(start, 'h')
    expect(lanes.watermarks()).toHaveLength(ALL_LANES.length)
    expect(lanes.watermarks()).toEqual([])
    lanes.reach(12)
    expect(lanes.watermarks().map(({ headers }) => headers?.position)).toEqual(Array(8).fill('12'))
    expect(lanes.lowest()).toBe(12)
  })

  it('skip what the topic contains, and chain the rest by position', () => {
    const lanes = createPublishedLanes(start, 'h')
    const [batch = []] = lanes.batchesOf([recorded(9), recorded(10), recorded(11), recorded(14)])
    expect(batch.map(({ headers }) => [headers?.after, headers?.position])).toEqual([
      ['10', '11'],
      ['11', '14'],
    ])
    expect(new Set(batch.map(({ partition }) => partition))).toEqual(new Set([laneOf('account-1')]))
  })

  it('split batches that are too big for a request, and mark events that are too big', () => {
    const lanes = createPublishedLanes(start, 'h')
    const text = 'x'.repeat(300_000)
    const big = { text: 'x'.repeat(700_000) }
    const events = [...[11, 12, 13, 14, 15].map((at) => recorded(at, { text })), recorded(16, big)]
    const batches = lanes.batchesOf(events)
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 2])
    const last = batches[2]?.[1]
    expect(last?.value).toBeNull()
    expect(last?.headers).toMatchObject({ after: '16', position: '16' })
    const untouched = createPublishedLanes(start, 'h')
    expect(untouched.batchesOf([])).toEqual([])
  })
})
