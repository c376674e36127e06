import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import type { Recomputation } from '#write-api/contract/repricing-and-corrections.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { type Scope, ScopeFilters, scanBodyOf } from './call-scope-filters.tsx'
import { CallTable, Figures, ResultPart } from './result-tables.tsx'
import {
  mergeRecomputations,
  NoCallsInPeriod,
  ScanProgress,
  useCallScan,
} from './scan-calls-in-parts.tsx'

type Props = { scope: Scope; onScope: (patch: Partial<Scope>) => void }

/**
 * Recomputes the charges of the ended calls that match the filters, from their events. Lists the
 * first 100 calls whose recorded charge differs. Batches are skipped.
 */
export function RecomputePanel({ scope, onScope }: Props) {
  const { t } = useTranslation()
  const { scan, run, stop } = useCallScan<Recomputation>(JSON.stringify(scope), mergeRecomputations)
  const start = (): void => {
    const body = scanBodyOf(scope)
    void run((cursor, signal) =>
      call('POST /api/audit/recompute', {
        body: cursor === undefined ? body : { ...body, cursor },
        signal,
      }),
    )
  }
  return (
    <Panel title={t('reconciliation.recompute.title')} lead={t('reconciliation.recompute.lead')}>
      <Toolbar
        label={t('ui.filters')}
        end={
          <Button tone="primary" icon="play" isBusy={scan?.isRunning === true} onClick={start}>
            {t('reconciliation.recompute.run')}
          </Button>
        }
      >
        <ScopeFilters scope={scope} onScope={onScope} />
      </Toolbar>
      {scan !== null && (
        <div className="tg-reconciliation-result">
          <ScanProgress scan={scan} onStop={stop} />
          {scan.result !== null && !scan.isRunning && <RecomputeResult result={scan.result} />}
        </div>
      )}
    </Panel>
  )
}

function RecomputeResult({ result }: { result: Recomputation }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { calls, charged, recomputed, skipped, different, differences } = result
  if (calls === 0) return <NoCallsInPeriod />
  const isClean = different === 0
  return (
    <>
      <p className={isClean ? 'tg-proofs-verdict' : 'tg-proofs-verdict tg-proofs-bad'}>
        <Icon name={isClean ? 'check' : 'alert'} size={20} />
        {isClean
          ? t('reconciliation.recompute.clean', { count: calls, calls: number.format(calls) })
          : t('reconciliation.recompute.different', {
              count: different,
              number: number.format(different),
            })}
      </p>
      <Figures
        figures={[
          [t('shared.calls'), number.format(calls)],
          [t('reconciliation.figure.charged'), <ExactQuota key="charged" value={charged} />],
          [t('reconciliation.figure.recomputed'), <ExactQuota key="again" value={recomputed} />],
          [
            t('shared.difference'),
            <QuotaChange key="difference" value={recomputed - charged} isNeutral />,
          ],
          [t('reconciliation.figure.skipped'), number.format(skipped)],
        ]}
      />
      {skipped > 0 && <p className="tg-hint">{t('reconciliation.recompute.skippedHint')}</p>}
      {differences.length > 0 && (
        <ResultPart
          title={t('reconciliation.recompute.first', {
            shown: differences.length,
            all: number.format(different),
          })}
        >
          <CallTable
            label={t('shared.difference')}
            otherName={t('reconciliation.figure.recomputed')}
            calls={differences.map(({ recomputed: other, ...row }) => ({ ...row, other }))}
          />
        </ResultPart>
      )}
    </>
  )
}
