import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { isRoot, useUser } from '#console/api/session.ts'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { Checkbox } from '#console/ui/forms/choice-inputs.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { Rebuild } from '#read-api/contract/verifications.ts'
import { ColumnTable } from '../elements/small-tables.tsx'
import { isUnfinished, JobProgress, JobStatus, pollWhile } from './job-progress.tsx'

const KEY = ['audit', 'rebuilds'] as const

/**
 * Lists and starts rebuilds of read models. A read model is a set of tables that is computed from
 * the events. A rebuild computes new tables from all events while the existing tables stay in use.
 * Only super admins can start rebuilds.
 */
export function RebuildsPanel() {
  const { t } = useTranslation()
  const query = useQuery({
    // The error of a failed rebuild is in the language of the request.
    ...apiQuery('GET /api/audit/rebuilds', undefined, [...KEY, currentLanguage()]),
    placeholderData: keepPreviousData,
    refetchInterval: pollWhile(isUnfinished),
  })
  const mayStart = isRoot(useUser())
  return (
    <Panel title={t('audit.rebuild.title')} lead={t('audit.rebuild.lead')}>
      <QueryView query={query} height={280}>
        {({ items, read_models: names }) => (
          <>
            {mayStart && <StartRebuild names={names} isRunning={items.some(isUnfinished)} />}
            {items.length === 0 ? (
              <p className="tg-muted">{t('audit.rebuild.none')}</p>
            ) : (
              items.map((item) => <RebuildItem key={item.id} rebuild={item} />)
            )}
          </>
        )}
      </QueryView>
    </Panel>
  )
}

function StartRebuild({ names, isRunning }: { names: readonly string[]; isRunning: boolean }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [selected, setSelected] = useState<readonly string[]>([])
  const { isBusy, submit } = useSubmit(async () => {
    await call('POST /api/audit/rebuilds', { body: { read_models: [...selected] } })
    setSelected([])
    await client.invalidateQueries({ queryKey: KEY })
  })
  const toggleModel = (name: string) =>
    setSelected(names.filter((one) => selected.includes(one) !== (one === name)))
  return (
    <>
      <fieldset className="tg-proofs-models">
        <legend>{t('audit.rebuild.readModels')}</legend>
        {names.map((name) => (
          <Checkbox
            key={name}
            label={name}
            isOn={selected.includes(name)}
            onChange={() => toggleModel(name)}
          />
        ))}
      </fieldset>
      <Button tone="primary" isDisabled={isBusy || isRunning} onClick={() => submit()}>
        {selected.length === 0
          ? t('audit.rebuild.startAll')
          : t('audit.rebuild.start', { count: selected.length })}
      </Button>
    </>
  )
}

function RebuildItem({ rebuild }: { rebuild: Rebuild }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  return (
    <section className="tg-proofs-rebuild">
      <h3 className="tg-proofs-heading">{stamp(rebuild.requested_at)}</h3>
      <JobProgress job={rebuild} />
      <ColumnTable
        label={t('audit.rebuild.readModels')}
        rows={rebuild.read_models}
        rowKey={({ name }) => name}
        columns={[
          [t('audit.rebuild.readModel'), ({ name }) => <code>{name}</code>],
          [t('shared.status'), ({ status }) => <JobStatus status={status} />],
          [
            { end: t('audit.rebuild.events') },
            ({ done, total }) =>
              t('audit.job.of', { done: number.format(done), total: number.format(total) }),
          ],
        ]}
      />
    </section>
  )
}
