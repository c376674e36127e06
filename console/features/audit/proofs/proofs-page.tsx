import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { choiceParam, integerParam, textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { keyArguments } from '../elements/checkpoint-status-and-verifier-hint.tsx'
import { useFileDownload } from '../elements/file-download.tsx'
import { CheckpointsPanel } from './checkpoints-panel.tsx'
import { VerificationsPanel } from './event-log-verifications-panel.tsx'
import { RebuildsPanel } from './read-model-rebuilds-panel.tsx'
import { CopiesPanel } from './scratch-copies-panel.tsx'
import '../audit.css'
import '#console/ui/forms/forms.css'
import './proofs.css'

const TABS = ['verify', 'checkpoints', 'export', 'rebuilds', 'copies'] as const
/**
 * The tabs that are available while a scratch copy (the site as of an earlier time) is open. The
 * other tabs work only with the live site.
 */
const TABS_IN_COPY: readonly ProofsTab[] = ['copies']
type ProofsTab = (typeof TABS)[number]

const URL_PARAMS = {
  tab: choiceParam<ProofsTab>(TABS, 'verify'),
  id: textParam('', 64),
  /** A new scratch copy contains the events before this position of the event log. */
  before: integerParam({ fallback: 0, max: 999_999_999_999_999 }),
}

export const ProofsPage = auditorsOnlyPage('shell.proofs', Proofs)

function Proofs() {
  const { t } = useTranslation()
  const [values, set] = useUrlState(URL_PARAMS)
  const { id, before } = values
  const tabs = currentScratchCopy() === null ? TABS : TABS_IN_COPY
  const tab = tabs.find((name) => name === values.tab) ?? tabs[0] ?? values.tab
  const panels: Record<ProofsTab, () => ReactElement> = {
    verify: () => <VerificationsPanel id={id} onSelect={(selected) => set({ id: selected })} />,
    checkpoints: () => <CheckpointsPanel />,
    export: () => <EventExportPanel />,
    rebuilds: () => <RebuildsPanel />,
    copies: () => <CopiesPanel before={before} />,
  }
  return (
    <Page title={t('shell.proofs')} lead={t('audit.proofs.lead')}>
      <Tabs
        label={t('shell.proofs')}
        tabs={tabs.map((name) => ({ id: name, title: t(`audit.proofs.tab.${name}`) }))}
        selected={tab}
        onSelect={(name) => set({ tab: name, id: '', before: 0 })}
      >
        {panels[tab]()}
      </Tabs>
    </Page>
  )
}

const POSITION = /^(?:[1-9]\d{0,14})?$/
const MEGABYTE = 1_000_000

/** Downloads events with their proofs, and offers the offline verifier that checks these proofs. */
function EventExportPanel() {
  const { t } = useTranslation()
  const number = useNumberFormat({ maximumFractionDigits: 1 })
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const download = useFileDownload()
  const { data: log } = useQuery(apiQuery('GET /api/transparency-log/status'))
  const isWitnessed = (log?.witnesses.length ?? 0) > 0
  const isInvalidPosition = (text: string) => !POSITION.test(text.trim())
  const errorOf = (text: string) =>
    isInvalidPosition(text) ? t('audit.export.positionWrong') : undefined
  const start = (): void =>
    download.start({
      route: 'GET /api/audit/export',
      query: { from: from.trim(), to: to.trim() },
      name: `audit-export-${from.trim() || '1'}-${to.trim() || 'end'}.tar`,
    })
  return (
    <Panel title={t('audit.export.title')} lead={t('audit.export.lead')}>
      <form
        className="tg-proofs-export"
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        <FormField label={t('audit.export.from')} error={errorOf(from)}>
          {(field) => <TextInput {...field} inputMode="numeric" value={from} onChange={setFrom} />}
        </FormField>
        <FormField label={t('audit.export.to')} error={errorOf(to)}>
          {(field) => <TextInput {...field} inputMode="numeric" value={to} onChange={setTo} />}
        </FormField>
        {download.bytes === null ? (
          <Button
            type="submit"
            tone="primary"
            icon="download"
            isDisabled={isInvalidPosition(from) || isInvalidPosition(to)}
          >
            {t('shared.export')}
          </Button>
        ) : (
          <Button icon="close" onClick={download.cancel}>
            {t('audit.export.cancel', { size: number.format(download.bytes / MEGABYTE) })}
          </Button>
        )}
      </form>
      <h3 className="tg-proofs-heading">{t('audit.export.check')}</h3>
      <ol className="tg-proofs-steps">
        <li>{t('audit.export.unpack')}</li>
        <li>
          {t('audit.export.run')} <code>node verify.mjs . {keyArguments(isWitnessed)}</code>
        </li>
        <li>{t('audit.export.compare')}</li>
      </ol>
      <p className="tg-hint">{t('audit.export.hint')}</p>
    </Panel>
  )
}
