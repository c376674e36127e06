import { describe, expect, it } from 'vitest'
import { Findings } from '#domain/audit/findings.ts'
import { eventOf, recordOf, type StoredRecord } from '#infra/audit-program/stored-record.ts'

const RECORD: StoredRecord = {
  ...{ position: 1, stream: 'account-7', revision: 0, id: 'id-1', type: 'QuotaGranted', v: 1 },
  ...{ at: 1, actor: 'user:1', cause: null, data: '{}' },
}
const SECRET = 'carol@example.com'

describe('a stored record that is damaged', () => {
  it.each([
    ['DataNotJson', () => eventOf({ ...RECORD, data: `{"note":"${SECRET}` })],
    ['DataNotObject', () => eventOf({ ...RECORD, data: `"${SECRET}"` })],
    ['LineNotRecord', () => recordOf(`{"data":"${SECRET}`)],
    ['LineNotRecord', () => recordOf('null')],
  ])('is reported as %s, without a part of its text', (code, read) => {
    const findings = new Findings()
    try {
      read()
    } catch (error) {
      findings.reportError('records', null, error)
    }
    expect(findings.list()).toMatchObject([{ code }])
    expect(JSON.stringify(findings.list())).not.toContain(SECRET)
  })
})
