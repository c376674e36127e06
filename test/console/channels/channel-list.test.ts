import { describe, expect, it } from 'vitest'
import {
  channelsOf,
  isMuted,
  rowKey,
  rowsOf,
  selectedRowKeys,
  selectionAfter,
} from '#console/features/channels/list/channel-rows.ts'
import {
  responseSpeed,
  statusCause,
} from '#console/features/channels/list/channel-status-and-speed.ts'
import { nextSort } from '#console/features/channels/list/channel-url-params.ts'
import { typeName } from '#read-api/contract/channel-type-names.ts'
import { byTag, channel } from '../support/channel-routes.ts'

const children = [channel({ id: 1, tag: 'a' }), channel({ id: 2, tag: 'a', status: 2 })]
const entries = byTag([...children, channel({ id: 3, tag: '' })])
const opened = new Map([['a', children]])

describe('the list of tags', () => {
  it('shows the channels of a tag under it while it is open', () => {
    expect(rowsOf(entries, new Map()).map(rowKey)).toEqual(['tag:a', '3'])
    expect(rowsOf(entries, opened).map(rowKey)).toEqual(['tag:a', '1', '2', '3'])
    const [coming] = rowsOf(entries, new Map([['a', null]]))
    expect(coming).toMatchObject({ isOpen: true, isLoading: true })
    expect(channelsOf(entries).map(({ id }) => id)).toEqual([1, 2, 3])
  })

  it('greys a tag only when none of its channels is on', () => {
    expect(rowsOf(entries, opened).map(isMuted)).toEqual([false, false, true, false])
    const off = byTag([channel({ tag: 'a', status: 3 })])
    expect(rowsOf(off, new Map()).map(isMuted)).toEqual([true])
  })

  it('a tag is selected exactly when all its channels are selected', () => {
    const all = selectionAfter(entries, new Set(['3']), new Set(['3', 'tag:a']))
    expect([...all].sort()).toEqual(['1', '2', '3'])
    expect([...selectedRowKeys(entries, all)].sort()).toEqual(['1', '2', '3', 'tag:a'])
    const less = selectionAfter(entries, all, new Set(['1', '3', 'tag:a']))
    expect([...less].sort()).toEqual(['1', '3'])
    expect([...selectedRowKeys(entries, less)]).not.toContain('tag:a')
    const none = selectionAfter(entries, all, new Set(['1', '2', '3']))
    expect([...none]).toEqual(['3'])
  })

  it('a header sorts descending, then ascending, then not at all', () => {
    const down = { column: 'id', isDescending: true }
    const up = { column: 'id', isDescending: false }
    expect(nextSort(null, down)).toEqual(down)
    expect(nextSort(down, up)).toEqual(up)
    expect(nextSort(up, down)).toBeNull()
    expect(nextSort(up, { column: 'name', isDescending: true })?.column).toBe('name')
  })
})

describe('a row of the channel list', () => {
  it('shows why a channel was disabled, if a reason is known', () => {
    expect(statusCause('{"status_reason":"401","status_time":5}')).toEqual({
      reason: '401',
      time: 5,
    })
    for (const text of ['', 'x', 'null', '{}', '{"status_reason":5}']) {
      expect(statusCause(text), text).toBeNull()
    }
  })

  it('rates the response time by the steps 1, 3 and 5 seconds', () => {
    const steps = [0, 1000, 1001, 3000, 5000, 5001].map(responseSpeed)
    expect(steps).toEqual(['untested', 'fast', 'fair', 'fair', 'slow', 'verySlow'])
  })

  it('shows the name of the channel’s type, or its number if the type is unknown', () => {
    expect(typeName(14)).toBe('Anthropic')
    expect(typeName(999)).toBe('#999')
  })
})
