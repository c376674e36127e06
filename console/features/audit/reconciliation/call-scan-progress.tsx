import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'

type Scan = {
  readonly result: { readonly calls: number } | null
  readonly isRunning: boolean
  readonly isComplete: boolean
}

/**
 * Shows the progress of a scan, which is a computation over all calls of a period. If the scan was
 * stopped before the end of the period, the text says so.
 */
export function ScanProgress({ scan, onStop }: { scan: Scan; onStop: () => void }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  if (scan.isRunning) {
    const calls = scan.result?.calls ?? 0
    return (
      <>
        <div className="tg-proofs-job" role="status">
          <span className="tg-muted">
            {t('reconciliation.scan.running', { count: calls, calls: number.format(calls) })}
          </span>
          <Button icon="close" onClick={onStop}>
            {t('reconciliation.scan.stop')}
          </Button>
        </div>
        <Skeleton height={160} />
      </>
    )
  }
  if (scan.isComplete || scan.result === null) return null
  return <Alert tone="bad">{t('reconciliation.scan.stopped')}</Alert>
}
