import { expect, it } from 'vitest'
import { auditActs as en } from '#console/i18n/en/audit-acts.ts'
import { auditActs as zh } from '#console/i18n/zh/audit-acts.ts'
import { auditLog } from '#projections/audit-log/projection.ts'
import { ACT_NAMES, actNameOf } from '#read-api/contract/act-names.ts'

it('every act of the audit log has a name in both languages', () => {
  const acts = [...auditLog.handlers.keys()].map(actNameOf).sort()
  expect([...ACT_NAMES]).toEqual(acts)
  expect(Object.keys(zh).sort()).toEqual(acts)
  expect(Object.keys(en).sort()).toEqual(acts)
})

it('no two acts have the same name in a language', () => {
  for (const names of [zh, en]) {
    expect(new Set(Object.values(names)).size).toBe(ACT_NAMES.length)
  }
})
