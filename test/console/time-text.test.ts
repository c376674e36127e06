import { describe, expect, it } from 'vitest'
import {
  absoluteTimeText,
  relativeTimeText,
  shortRelativeText,
  shortStampText,
  stampText,
} from '#console/ui/elements/time-text.ts'

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0) / 1000

describe('the text of a time', () => {
  it.each([
    [NOON - 5, '5 seconds ago', '5秒钟前'],
    [NOON - 119, '1 minute ago', '1分钟前'],
    [NOON - 7200, '2 hours ago', '2小时前'],
    [NOON - 86_400, 'yesterday', '昨天'],
    [NOON + 3600, 'in 1 hour', '1小时后'],
    [NOON - 40 * 86_400, 'Oct 12, 2026', '2026年10月12日'],
  ])('at %s is relative, or a date when it is long ago', (at, en, zh) => {
    expect(relativeTimeText(at, NOON, 'en')).toBe(en)
    expect(relativeTimeText(at, NOON, 'zh-CN')).toBe(zh)
  })

  it.each([
    [NOON - 52, '52 sec. ago', '52秒前'],
    [NOON - 7200, '2 hr. ago', '2小时前'],
    [NOON + 3600, 'in 1 hr.', '1小时后'],
    [NOON - 40 * 86_400, '2026-10-12', '2026-10-12'],
  ])('at %s has a short form', (at, en, zh) => {
    expect(shortRelativeText(at, NOON, 'en')).toBe(en)
    expect(shortRelativeText(at, NOON, 'zh-CN')).toBe(zh)
  })

  it('names the time zone, or sorts as text', () => {
    expect(absoluteTimeText(NOON, 'en', 'UTC')).toContain('UTC')
    expect(stampText(NOON, 'UTC')).toBe('2026-11-21 12:00:00')
  })

  it('omits the year when it is the current year in the time zone of the user', () => {
    expect(shortStampText(NOON, NOON + 86_400, 'UTC')).toBe('11-21 12:00:00')
    const newYear = Date.UTC(2026, 11, 31, 23, 0, 0) / 1000
    expect(shortStampText(NOON, newYear, 'UTC')).toBe('11-21 12:00:00')
    expect(shortStampText(NOON, newYear, 'Asia/Shanghai')).toBe('2026-11-21 20:00:00')
  })
})
