import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { isRoot, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { rangeText } from '#console/ui/time-range/time-range.ts'
import type { Repricing } from '#write-api/contract/repricing-and-corrections.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { useUserNames } from '../elements/user-names.ts'
import { currentPricesQuery, type Scope, ScopeFilters, scanBodyOf } from './call-scope-filters.tsx'
import { CallTable, Figures, FiguresTable, ResultPart, UserLink } from './result-tables.tsx'
import {
  mergeRepricings,
  NoCallsInPeriod,
  ScanProgress,
  useCallScan,
} from './scan-calls-in-parts.tsx'
import {
  changesOf,
  countOf,
  type DraftRow,
  isInvalidDecimal,
  pricesOf,
  type WhatIfPriceDraft,
} from './what-if-price-draft.ts'
import { WhatIfPriceDraftEditor } from './what-if-price-draft-editor.tsx'

type Props = {
  scope: Scope
  onScope: (patch: Partial<Scope>) => void
  draft: WhatIfPriceDraft
  onDraft: (draft: WhatIfPriceDraft) => void
}

/** Computes what the calls of a period would have cost with other prices. */
export function WhatIfPanel({ scope, onScope, draft, onDraft }: Props) {
  const { t } = useTranslation()
  const { data: currentPrices } = useQuery(currentPricesQuery)
  const changes = changesOf(draft)
  const key = JSON.stringify([scope, changes === null ? null : [...changes]])
  const { scan, run, stop } = useCallScan<Repricing>(key, mergeRepricings)
  const isInvalid = changes === null || draft.rows.some(hasInvalidValue)
  const start = (): void => {
    if (isInvalid || currentPrices === undefined) return
    const body = { ...scanBodyOf(scope), prices: pricesOf(changes, currentPrices.state ?? {}) }
    void run((cursor, signal) =>
      call('POST /api/audit/reprice', {
        body: cursor === undefined ? body : { ...body, cursor },
        signal,
      }),
    )
  }
  const count = changes === null ? 0 : countOf(changes)
  return (
    <>
      <Panel title={t('reconciliation.whatIf.title')} lead={t('reconciliation.whatIf.lead')}>
        <WhatIfPriceDraftEditor draft={draft} onDraft={onDraft} isJsonInvalid={changes === null} />
      </Panel>
      <Panel>
        <Toolbar
          label={t('ui.filters')}
          end={
            <>
              <span className="tg-muted">
                {count === 0
                  ? t('reconciliation.whatIf.unchanged')
                  : t('reconciliation.whatIf.changes', { count })}
              </span>
              <Button
                tone="primary"
                icon="play"
                isBusy={scan?.isRunning === true}
                isDisabled={isInvalid || currentPrices === undefined}
                onClick={start}
              >
                {t('reconciliation.whatIf.run')}
              </Button>
            </>
          }
        >
          <ScopeFilters scope={scope} onScope={onScope} />
        </Toolbar>
        {scan !== null && (
          <div className="tg-reconciliation-result">
            <ScanProgress scan={scan} onStop={stop} />
            {scan.result !== null && !scan.isRunning && (
              <WhatIfResult result={scan.result} scope={scope} />
            )}
          </div>
        )}
      </Panel>
    </>
  )
}

const hasInvalidValue = ({ values }: DraftRow): boolean =>
  Object.values(values).some(isInvalidDecimal)

function WhatIfResult({ result, scope }: { result: Repricing; scope: Scope }) {
  const { t } = useTranslation()
  const names = useUserNames(result.users.map(({ user_id: id }) => id))
  if (result.calls === 0) return <NoCallsInPeriod />
  const { models, groups, users, largest, refused } = result
  return (
    <>
      <Totals result={result} />
      {refused > 0 && (
        <p className="tg-hint">{t('reconciliation.whatIf.refusedHint', { count: refused })}</p>
      )}
      <ResultPart title={t('shared.byModel')}>
        <ModelTable rows={models} scope={scope} />
      </ResultPart>
      {largest.length > 0 && (
        <ResultPart title={t('reconciliation.whatIf.largest')}>
          <CallTable
            label={t('reconciliation.whatIf.largest')}
            otherName={t('reconciliation.figure.drafted')}
            calls={largest.map(({ drafted, ...row }) => ({ ...row, other: drafted }))}
          />
        </ResultPart>
      )}
      <div className="tg-reconciliation-columns">
        <ResultPart title={t('reconciliation.whatIf.byGroup')}>
          <FiguresTable
            label={t('reconciliation.whatIf.byGroup')}
            head={t('ui.groupName')}
            rows={groups.map((row) => ({ ...row, key: row.group, name: row.group }))}
          />
        </ResultPart>
        <ResultPart title={t('shared.byUser')}>
          <FiguresTable
            label={t('shared.byUser')}
            head={t('shared.user')}
            rows={users.map(({ user_id: id, ...row }) => ({
              ...{ ...row, key: String(id), name: <UserLink id={id} name={names.get(id)} /> },
            }))}
          />
        </ResultPart>
      </div>
    </>
  )
}

function Totals({ result }: { result: Repricing }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { calls, charged, drafted } = result
  return (
    <Figures
      figures={[
        [t('shared.calls'), number.format(calls)],
        [t('reconciliation.figure.charged'), <ExactQuota key="charged" value={charged} />],
        [t('reconciliation.figure.drafted'), <ExactQuota key="drafted" value={drafted} />],
        [
          t('shared.difference'),
          <QuotaChange key="difference" value={drafted - charged} isNeutral />,
        ],
      ]}
    />
  )
}

/**
 * Shows the result of a what-if computation by model. For super admins, each row whose charge
 * differs has a link to the form that corrects the charges of the model's calls.
 */
function ModelTable({ rows, scope }: { rows: Repricing['models']; scope: Scope }) {
  const { t } = useTranslation()
  const mayCorrect = isRoot(useUser())
  const action = (model: string) => {
    const query = { tab: 'corrections', new: '1', model, range: rangeText(scope.range) }
    return (
      <Link
        to={`?${new URLSearchParams(query)}`}
        aria-label={t('reconciliation.whatIf.correctModel', { model })}
      >
        {t('reconciliation.whatIf.correct')}
      </Link>
    )
  }
  return (
    <FiguresTable
      label={t('shared.byModel')}
      head={t('ui.model')}
      rows={rows.map((row) => ({
        ...{ ...row, key: row.model, name: row.model },
        ...(mayCorrect && row.charged !== row.drafted ? { action: action(row.model) } : {}),
      }))}
    />
  )
}
