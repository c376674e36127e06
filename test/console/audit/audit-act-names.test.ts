import { expect, it } from 'vitest'
import { auditActs as en } from '#console/i18n/en/audit-act-names.ts'
import { auditEvents as enEvents } from '#console/i18n/en/other-event-names.ts'
import { auditActs as zh } from '#console/i18n/zh/audit-act-names.ts'
import { auditEvents as zhEvents } from '#console/i18n/zh/other-event-names.ts'
import { auditLog } from '#projections/audit-log/projection.ts'
import {
  ACT_NAMES,
  actNameOf,
  eventTypeOf,
  OTHER_EVENT_NAMES,
} from '#read-api/contract/audit-act-names.ts'
import { eventTypes } from '#test/support/event-types.ts'

it('every act of the audit log has a name in both languages', () => {
  const acts = [...auditLog.handlers.keys()].map(actNameOf).sort()
  expect([...ACT_NAMES]).toEqual(acts)
  expect(Object.keys(zh).sort()).toEqual(acts)
  expect(Object.keys(en).sort()).toEqual(acts)
})

it('every other event has a name in both languages, and its type follows from the name', () => {
  const names = [...ACT_NAMES, ...OTHER_EVENT_NAMES]
  expect(names.map(eventTypeOf).sort()).toEqual(eventTypes())
  expect(Object.keys(zhEvents)).toEqual([...OTHER_EVENT_NAMES])
  expect(Object.keys(enEvents)).toEqual([...OTHER_EVENT_NAMES])
})

it('no two events have the same name in a language', () => {
  for (const names of [
    { ...zh, ...zhEvents },
    { ...en, ...enEvents },
  ]) {
    expect(new Set(Object.values(names)).size).toBe(ACT_NAMES.length + OTHER_EVENT_NAMES.length)
  }
})
