import type { FindingPlace, Findings } from '#domain/audit/findings.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import type { DifferingRow } from '#projections/runner/find-differing-rows.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { verifyReadModels } from '#projections/runner/verify-read-model.ts'
import type { Core } from '../core-dependencies.ts'

type Options = {
  readonly onProgress?: (stage: string, done: number, total: number) => void
  readonly signal?: AbortSignal
}

/**
 * Compares every read model with a new fold of the events, except those that are ahead of them.
 * Names the first rows that differ.
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
    // A history in which something was found may be impossible to fold: an event that another one
    // needs is missing. The findings that name the event must be reported all the same.
    if (signal?.aborted === true || findings.historyTotal() === 0) throw error
    findings.report('read-models', null, 'EventsNotFoldable', { reason: error.message })
    return []
  })
  for (const { name, isEqual, tables, rows } of results) {
    findings.expect('read-models', isEqual, null, 'ReadModelDiffers', () => {
      return { readModel: name, tables: tables.join(', ') }
    })
    for (const row of rows) reportRow(name, row, findings)
  }
}

function reportRow(readModel: ProjectionName, differing: DifferingRow, findings: Findings): void {
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

/** Returns the event of a row, if its columns name one. */
function placeOf({ userId, position, revision }: DifferingRow): FindingPlace | null {
  if (position === null) return userId === null ? null : { stream: `account-${userId}` }
  return userId === null || revision === null
    ? { position }
    : { position, stream: `account-${userId}`, revision }
}
