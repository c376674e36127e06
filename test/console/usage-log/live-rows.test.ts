import { describe, expect, it } from 'vitest'
import {
  LIVE_ROWS_MAX,
  NO_LIVE_ROWS,
  receiveRows,
  releaseRows,
  setHeld,
  withPage,
} from '#console/features/usage-log/live-rows.ts'
import { logRow } from './fake-usage-log.ts'

const rowsOf = (...ids: number[]) => ids.map((id) => logRow(id))
/** A page with these rows, which is followed by further pages. */
const below = (...ids: number[]) => ({ rows: rowsOf(...ids), isComplete: false })
const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id)
const HELD = setHeld(NO_LIVE_ROWS, true)

describe('the live rows of the usage log', () => {
  it('are shown newest first above the page, each once', () => {
    const live = receiveRows(
      receiveRows(NO_LIVE_ROWS, rowsOf(4, 5), below(3)),
      rowsOf(5, 6),
      below(3),
    )
    expect(ids(live.visible)).toEqual([6, 5, 4])
    expect(ids(withPage(live, below(5, 4, 3)))).toEqual([6, 5, 4, 3])
  })

  it('ignore rows that the page already has', () => {
    expect(receiveRows(NO_LIVE_ROWS, rowsOf(2, 3), below(3, 2))).toBe(NO_LIVE_ROWS)
  })

  it('insert a late row once in its place, and omit a row of a later page', () => {
    const page = below(9, 7, 3)
    const late = receiveRows(
      receiveRows(NO_LIVE_ROWS, rowsOf(8, 10), page),
      rowsOf(5, 7, 8, 11, 2),
      page,
    )
    expect(ids(late.visible)).toEqual([11, 10, 8, 5])
    expect(ids(withPage(late, page))).toEqual([11, 10, 9, 8, 7, 5, 3])
    expect(ids(withPage(late, below(11, 10, 9)))).toEqual([11, 10, 9])
    const held = receiveRows(receiveRows(HELD, rowsOf(10), page), rowsOf(8), page)
    expect(ids(withPage(releaseRows(held), page))).toEqual([10, 9, 8, 7, 3])
    const whole = { rows: rowsOf(9), isComplete: true }
    expect(ids(withPage(receiveRows(NO_LIVE_ROWS, rowsOf(4), whole), whole))).toEqual([9, 4])
  })

  it('do not move while they are held, and are all shown once they are released', () => {
    const waiting = receiveRows(receiveRows(HELD, rowsOf(4), below(3)), rowsOf(5, 6), below(3))
    expect(ids(waiting.visible)).toEqual([])
    expect(ids(waiting.pending)).toEqual([6, 5, 4])
    const shown = setHeld(waiting, false)
    expect(ids(shown.visible)).toEqual([6, 5, 4])
    expect(shown.pending).toEqual([])
  })

  it('are marked as new only when they arrived last', () => {
    const first = receiveRows(NO_LIVE_ROWS, rowsOf(4, 5), below(3))
    const isFresh = (live: typeof first) =>
      live.visible.filter(({ id }) => id > live.highlightAboveId).map(({ id }) => id)
    expect(isFresh(first)).toEqual([5, 4])
    expect(isFresh(receiveRows(first, rowsOf(6), below(3)))).toEqual([6])
    expect(isFresh(releaseRows(receiveRows(setHeld(first, true), rowsOf(6, 7), below(3))))).toEqual(
      [7, 6],
    )
  })

  it('have a maximum number, and report when more were waiting', () => {
    const many = Array.from({ length: LIVE_ROWS_MAX + 10 }, (_, index) => logRow(index + 1))
    const overfull = receiveRows(HELD, many, below())
    expect(overfull.pending).toHaveLength(LIVE_ROWS_MAX)
    expect(overfull.pending[0]?.id).toBe(LIVE_ROWS_MAX + 10)
    expect(overfull.isIncomplete).toBe(true)
    expect(receiveRows(overfull, rowsOf(LIVE_ROWS_MAX + 11), below()).dropped).toBe(11)
    expect(releaseRows(overfull).dropped).toBe(0)
    const shown = receiveRows(NO_LIVE_ROWS, many, below())
    expect(shown.visible).toHaveLength(LIVE_ROWS_MAX)
    expect(shown.isIncomplete).toBe(false)
  })
})
