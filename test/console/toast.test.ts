import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '#console/api/api-error.ts'
import {
  dismissErrors,
  dismissLocalErrors,
  dismissPageToasts,
  dismissToast,
  showError,
  showInfo,
  shownToasts,
  showSuccess,
} from '#console/ui/messages/toast.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { en } from '#test/support/console-texts.ts'

afterEach(() => {
  for (const { id } of shownToasts()) dismissToast(id)
})

const messages = () => shownToasts().map(({ message }) => message)

describe('toasts', () => {
  it('are at most three, so that a fourth one removes the oldest', () => {
    for (const text of ['a', 'b', 'c', 'd']) showInfo(text)
    expect(messages()).toEqual(['b', 'c', 'd'])
  })

  it('are merged with a count when they have the same text and the same tone', () => {
    for (let time = 0; time < 9; time += 1) showError(new Error('no'))
    showSuccess('no')
    expect(shownToasts().map(({ tone, count }) => [tone, count])).toEqual([
      ['error', 9],
      ['success', 1],
    ])
  })

  it('show the request id, and the message of the server unless it repeats the text', () => {
    const details = { code: 'X', status: 500, requestId: 'req-7', detail: 'disk is full' }
    showError(new ApiError(en('request.serverError'), details))
    expect(shownToasts()[0]).toMatchObject({ requestId: 'req-7', detail: 'disk is full' })
    showError(new ApiError(en('request.other', { message: 'disk is full' }), details))
    expect(shownToasts()[1]).toMatchObject({ detail: '' })
    // On a demo site, the message and the detail are the same in English.
    const demo = {
      code: 'DemoSite',
      status: 405,
      detail: httpError('DemoSite').translatedMessage.en,
    }
    expect(new ApiError(en('request.noServer'), demo).detail).toBe('')
  })

  it('for errors disappear on a later success, but not on one of the same action', () => {
    vi.useFakeTimers()
    showError(new Error('name is taken'))
    vi.advanceTimersByTime(500)
    showSuccess('the rest is saved')
    expect(messages()).toEqual(['name is taken', 'the rest is saved'])
    vi.advanceTimersByTime(2_000)
    showSuccess('saved')
    vi.useRealTimers()
    expect(messages()).toEqual(['the rest is saved', 'saved'])
  })

  it('for errors disappear on a later success, also when the clock was set back', () => {
    vi.useFakeTimers()
    showError(new Error('name is taken'))
    vi.advanceTimersByTime(2_000)
    vi.setSystemTime(Date.now() - 3_600_000)
    showSuccess('saved')
    vi.useRealTimers()
    expect(messages()).toEqual(['saved'])
  })

  it('for errors disappear on a retry or a cancel, but not at the same moment', () => {
    vi.useFakeTimers()
    showError(new Error('name is taken'))
    dismissErrors()
    expect(messages()).toEqual(['name is taken'])
    vi.advanceTimersByTime(2_000)
    showInfo('stays')
    dismissErrors()
    vi.useRealTimers()
    expect(messages()).toEqual(['stays'])
  })

  it('for local errors disappear once the user corrects them, unlike those of the server', () => {
    const details = { code: 'X', status: 500, requestId: 'req-8', detail: '' }
    showError(new ApiError('failed', details))
    showError('choose some first')
    dismissLocalErrors()
    expect(messages()).toEqual(['failed'])
  })

  it('about a page disappear with it, unless they carry on or have an Undo', () => {
    showError(new Error('about the page'))
    showSuccess('logged in', { staysOnNavigation: true })
    showSuccess('disabled', { action: { text: en('shared.undo'), onClick: () => {} } })
    dismissPageToasts()
    showSuccess('finished since')
    expect(messages()).toEqual(['logged in', 'disabled', 'finished since'])
  })
})
