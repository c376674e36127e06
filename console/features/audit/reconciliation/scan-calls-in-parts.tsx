import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import type { Recomputation, Repricing } from '#write-api/contract/repricing-and-corrections.ts'

type Part = { readonly next_cursor: string | null }

/**
 * The state of a scan. `key` identifies the inputs of the scan. When the inputs change, the result
 * is hidden.
 */
type Scan<Result> = {
  readonly key: string
  readonly result: Result | null
  readonly isRunning: boolean
  readonly isComplete: boolean
}

type ReadPart<Result> = (cursor: string | undefined, signal: AbortSignal) => Promise<Result>

/**
 * Returns the state of a scan (a computation over all calls of a period), and functions that start
 * and stop it. A long period is divided into parts, because the server limits the time of a
 * request. The results of the parts are merged. The scan ends early if a part fails, `stop` or
 * `run` is called, or the user leaves the page. After a failure or `stop`, the merged results of
 * the finished parts stay visible.
 */
export function useCallScan<Result extends Part>(
  key: string,
  merge: (all: Result, part: Result) => Result,
) {
  const [scan, setScan] = useState<Scan<Result> | null>(null)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const run = async (readPart: ReadPart<Result>): Promise<void> => {
    running.current?.abort()
    const controller = new AbortController()
    const { signal } = controller
    running.current = controller
    const show = (result: Result | null, isRunning: boolean): void =>
      setScan({ key, result, isRunning, isComplete: result?.next_cursor === null })
    let all: Result | null = null
    show(null, true)
    try {
      do {
        const part: Result = await readPart(all?.next_cursor ?? undefined, signal)
        if (signal.aborted) return
        all = all === null ? part : merge(all, part)
        show(all, all.next_cursor !== null)
      } while (all.next_cursor !== null)
    } catch (error) {
      if (signal.aborted) return
      showError(error)
      show(all, false)
    }
  }
  const stop = (): void => {
    running.current?.abort()
    setScan((now) => now && { ...now, isRunning: false })
  }
  return { scan: scan?.key === key ? scan : null, run, stop }
}

const SHOWN_MAX = 100

/**
 * Merges the recomputed charges for two parts of a period. Only the first 100 calls whose charge
 * differs are kept.
 */
export const mergeRecomputations = (all: Recomputation, part: Recomputation): Recomputation => ({
  calls: all.calls + part.calls,
  charged: all.charged + part.charged,
  recomputed: all.recomputed + part.recomputed,
  skipped: all.skipped + part.skipped,
  different: all.different + part.different,
  differences: [...all.differences, ...part.differences].slice(0, SHOWN_MAX),
  next_cursor: part.next_cursor,
})

type Figures = Pick<Repricing, 'calls' | 'charged' | 'drafted' | 'refused'>

/**
 * Merges the results of a what-if computation for two parts of a period. The rows of the same
 * model, group or user are summed up. Of the single calls, only the 100 with the largest
 * differences are kept.
 */
export const mergeRepricings = (all: Repricing, part: Repricing): Repricing => ({
  ...sumOf(all, part),
  models: mergeRows(all.models, part.models, ({ model }) => model),
  groups: mergeRows(all.groups, part.groups, ({ group }) => group),
  users: mergeRows(all.users, part.users, ({ user_id: id }) => String(id)),
  largest: [...all.largest, ...part.largest].sort(byDifference).slice(0, SHOWN_MAX),
  next_cursor: part.next_cursor,
})

const sumOf = (one: Figures, other: Figures): Figures => ({
  calls: one.calls + other.calls,
  charged: one.charged + other.charged,
  drafted: one.drafted + other.drafted,
  refused: one.refused + other.refused,
})

function mergeRows<Row extends Figures>(
  all: readonly Row[],
  part: readonly Row[],
  keyOf: (row: Row) => string,
): Row[] {
  const rows = new Map<string, Row>()
  for (const row of [...all, ...part]) {
    const before = rows.get(keyOf(row))
    rows.set(keyOf(row), before === undefined ? row : { ...row, ...sumOf(before, row) })
  }
  return [...rows.values()].sort(byDifference)
}

type Charged = { readonly charged: number; readonly drafted: number }
const byDifference = (one: Charged, other: Charged): number =>
  Math.abs(other.charged - other.drafted) - Math.abs(one.charged - one.drafted)

/**
 * Shows the progress of a scan (a computation over all calls of a period). If the scan ended before
 * the end of the period, shows a warning.
 */
export function ScanProgress(props: {
  scan: Scan<{ readonly calls: number }>
  onStop: () => void
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { scan } = props
  if (scan.isRunning) {
    const calls = scan.result?.calls ?? 0
    return (
      <>
        <div className="tg-proofs-job" role="status">
          <span className="tg-muted">
            {t('reconciliation.scan.running', { count: calls, calls: number.format(calls) })}
          </span>
          <Button icon="close" onClick={props.onStop}>
            {t('shared.stop')}
          </Button>
        </div>
        <Skeleton height={160} />
      </>
    )
  }
  if (scan.isComplete || scan.result === null) return null
  return <Alert tone="bad">{t('reconciliation.scan.stopped')}</Alert>
}

/** The content in place of the result of a scan if the period contains no calls. */
export function NoCallsInPeriod() {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon="chart"
      title={t('reconciliation.scan.noCalls')}
      body={t('reconciliation.scan.noCallsLead')}
    />
  )
}
