import type { FindingPlace, Findings } from '#domain/audit/findings.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import type { DifferingRow } from '#projections/runner/find-differing-rows.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { verificationErrorText } from '#projections/runner/verification-error-text.ts'
import { verifyReadModels } from '#projections/runner/verify-read-model.ts'
import type { Core } from '../core-dependencies.ts'

type Options = {
  readonly onProgress?: (stage: string, done: number, total: number) => void
  readonly signal?: AbortSignal
}

/**
 * Folds the events again, compares each read model with the result, and reports the first rows that
 * differ. Skips the read models in `ahead`, which include events that the event store does not
 * have.
 */
export async function compareReadModels(
  core: Core,
  ahead: ReadonlySet<ProjectionName>,
  findings: Findings,
  { onProgress = () => {}, signal }: Options,
): Promise<void> {
  const compared = PROJECTIONS.filter(({ name }) => !ahead.has(name))
  if (compared.length === 0) return
  const folded = verifyReadModels(core, compared, foldContext(core), {
    onProgress: (done, total) => onProgress('read-models', done, total),
    ...(signal === undefined ? {} : { signal }),
  })
  const results = await folded.catch((error: Error) => {
    // If the history has findings, folding may fail, for example because a later event depends on a
    // missing one. The findings must be reported nevertheless.
    if (signal?.aborted === true || findings.historyTotal() === 0) throw error
    core.log.warn({ err: error }, 'the events could not be folded for a verification')
    const params = { reason: verificationErrorText(error) }
    findings.report('read-models', null, 'EventsNotFoldable', params)
    return []
  })
  for (const { name, isEqual, tables, rows, rowsError } of results) {
    findings.expect('read-models', isEqual, null, 'ReadModelDiffers', () => {
      return { readModel: name, tables: tables.join(', ') }
    })
    for (const row of rows) reportDifferingRow(name, row, findings)
    if (rowsError !== null) {
      const params = { readModel: name, reason: rowsError }
      findings.report('read-models', null, 'ReadModelRowsNotComparable', params)
    }
  }
}

/** Reports a row of a read model that differs from a new fold of the events. */
export function reportDifferingRow(
  readModel: ProjectionName,
  differing: DifferingRow,
  findings: Findings,
): void {
  const { kind, table, row, columns } = differing
  const place = placeOf(differing)
  const params = { readModel, table, row }
  if (kind === 'missing') {
    findings.report('read-models', place, 'ReadModelRowMissing', params)
  } else if (kind === 'unexpected') {
    findings.report('read-models', place, 'ReadModelRowUnexpected', params)
  } else {
    const named = { ...params, columns: columns.join(', ') }
    findings.report('read-models', place, 'ReadModelRowDiffers', named)
  }
}

/**
 * Returns the event, or at least the stream, that a differing row names in its columns. Returns
 * null if the row names neither.
 */
function placeOf({ userId, position, revision }: DifferingRow): FindingPlace | null {
  if (position === null) return userId === null ? null : { stream: `account-${userId}` }
  return userId === null || revision === null
    ? { position }
    : { position, stream: `account-${userId}`, revision }
}
