import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import {
  TOKEN_COUNT_MAX,
  tokenCountOf,
} from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'
import {
  optionalBoolean,
  optionalInteger,
  optionalList,
  optionalText,
} from '#relay/conversion/read-json-values-strictly.ts'
import { dataEvent, namedEvent } from '#relay/conversion/write-server-sent-events.ts'

describe('fields of provider JSON', () => {
  it.each([
    [7, 7],
    [0, 0],
    ['12', 12],
    [1.2, 2],
    [-5, 0],
    [1e300, TOKEN_COUNT_MAX],
    [Number.POSITIVE_INFINITY, TOKEN_COUNT_MAX],
    [Number.NaN, 0],
    ['-3', 0],
    ['many', 0],
    [null, 0],
    [undefined, 0],
    [[3], 0],
    [{}, 0],
  ])('reads the token count %j as %i', (value, count) => {
    expect(tokenCountOf(value)).toBe(count)
  })
})

describe('fields of a request', () => {
  it('treats null like a missing member', () => {
    expect([optionalText(null, 'a'), optionalInteger(undefined, 'a')]).toEqual([null, null])
    expect(optionalList(null, 'a')).toEqual([])
  })

  it('names the path of a wrong value', () => {
    for (const read of [optionalText, optionalBoolean, optionalList, optionalInteger]) {
      const thrown = (): unknown => read(1.5, 'messages[2].x')
      expect(thrown).toThrow(ConversionError)
      expect(thrown).toThrow(expect.objectContaining({ param: 'messages[2].x' }))
    }
  })
})

describe('server-sent events', () => {
  it('have one data line, even if a text has line breaks', () => {
    expect(dataEvent({ a: 'x\n\ny' })).toBe('data: {"a":"x\\n\\ny"}\n\n')
    expect(namedEvent('message_stop', {})).toBe('event: message_stop\ndata: {}\n\n')
  })
})
