import { describe, expect, it } from 'vitest'
import {
  channelsOf,
  isMuted,
  markedKeys,
  rowKey,
  rowsOf,
  selectionAfter,
} from '#console/features/channels/list/channel-rows.ts'
import { responseSpeed, statusCause } from '#console/features/channels/list/channel-status.ts'
import { nextSort } from '#console/features/channels/list/channel-url-params.ts'
import { typeName } from '#console/features/channels/type-names.ts'
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

  it('a tag is chosen with all its channels, and with them alone', () => {
    const all = selectionAfter(entries, new Set(['3']), new Set(['3', 'tag:a']))
    expect([...all].sort()).toEqual(['1', '2', '3'])
    expect([...markedKeys(entries, all)].sort()).toEqual(['1', '2', '3', 'tag:a'])
    const less = selectionAfter(entries, all, new Set(['1', '3', 'tag:a']))
    expect([...less].sort()).toEqual(['1', '3'])
    expect([...markedKeys(entries, less)]).not.toContain('tag:a')
    const none = selectionAfter(entries, all, new Set(['1', '2', '3']))
    expect([...none]).toEqual(['3'])
  })

  it('a header sorts down, up, and not at all', () => {
    const down = { column: 'id', isDescending: true }
    const up = { column: 'id', isDescending: false }
    expect(nextSort(null, down)).toEqual(down)
    expect(nextSort(down, up)).toEqual(up)
    expect(nextSort(up, down)).toBeNull()
    expect(nextSort(up, { column: 'name', isDescending: true })?.column).toBe('name')
  })
})

describe('what a row says', () => {
  it('why a channel was switched off, if it is told', () => {
    expect(statusCause('{"status_reason":"401","status_time":5}')).toEqual({
      reason: '401',
      time: 5,
    })
    for (const text of ['', 'x', 'null', '{}', '{"status_reason":5}']) {
      expect(statusCause(text), text).toBeNull()
    }
  })

  it('speed by the steps 1, 3 and 5 seconds', () => {
    const steps = [0, 1000, 1001, 3000, 5000, 5001].map(responseSpeed)
    expect(steps).toEqual(['untested', 'fast', 'fair', 'fair', 'slow', 'verySlow'])
  })

  it('the name of a type that is not offered', () => {
    expect(typeName(14)).toBe('Anthropic')
    expect(typeName(999)).toBe('#999')
  })
})
