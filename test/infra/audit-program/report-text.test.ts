import { describe, expect, it } from 'vitest'
import { Findings } from '#domain/audit/findings.ts'
import { checkLines, findingLine, resultLine } from '#infra/audit-program/report-text.ts'

describe('a report of a verification', () => {
  it('counts one finding and several in words', () => {
    expect(resultLine(0)).toBe('Nothing was found.')
    expect(resultLine(1)).toBe('1 finding:')
    expect(resultLine(1_200)).toBe('1,200 findings, of which the first are:')
    const findings = new Findings()
    findings.report('revisions', null, 'is missing')
    expect(checkLines(findings)).toEqual([expect.stringMatching(/FAILED.* 1 finding$/)])
    findings.report('revisions', null, 'is missing')
    expect(checkLines(findings)).toEqual([expect.stringMatching(/FAILED.* 2 findings$/)])
  })

  it('names the place of a finding as far as it is known', () => {
    const findings = new Findings()
    findings.report('revisions', { position: 9, stream: 'account-7', revision: 3 }, 'a')
    findings.report('revisions', { stream: 'account-7' }, 'b')
    findings.report('revisions', { position: 9 }, 'c')
    findings.report('revisions', null, 'd')
    expect(findings.list().map(findingLine)).toEqual([
      '  revisions at position 9 (account-7, revision 3): a',
      '  revisions (account-7): b',
      '  revisions at position 9: c',
      '  revisions: d',
    ])
  })
})
