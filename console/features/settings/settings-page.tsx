import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { automaticCheckQuery } from '#console/api/options.ts'
import { isAdmin, useUser } from '#console/api/session.ts'
import { confirmDiscard } from '#console/ui/dialogs/confirm.tsx'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { HistoryLink } from '#console/ui/elements/history-link.tsx'
import { useReturnToPage } from '#console/ui/forms/form-return-path.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { focusFirstError } from '#console/ui/forms/use-submit.ts'
import { AdminsOnlyPage } from '#console/ui/layout/admins-only-page.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { OptionSection } from '#read-api/contract/options.ts'
import type { OptionChange } from './compare-and-merge-option-changes.ts'
import { CUSTOM_FORMS, SECTION_EXTRAS } from './custom-section-content.tsx'
import { OptionDiff } from './setting-history-and-diff.tsx'
import { SettingSection } from './setting-section.tsx'
import { useOptionTexts } from './use-option-texts.ts'
import { type SettingsForm, useSettingsForm } from './use-settings-form.ts'
import '../../ui/forms/forms.css'
import './pricing.css'
import './settings.css'

const SHOWN_FROM = 4

function SectionList(props: { sections: readonly OptionSection[] }) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  if (props.sections.length < SHOWN_FROM) return null
  return (
    <nav className="tg-section-list" aria-label={t('settings.sections')}>
      {props.sections.map(({ id }) => (
        <button key={id} type="button" onClick={() => show(id)}>
          {texts.sectionTitle(id)}
        </button>
      ))}
    </nav>
  )
}

function show(id: string): void {
  const section = document.getElementById(`section-${id}`)
  section?.scrollIntoView({ block: 'start' })
  section?.querySelector<HTMLElement>('input, textarea, select, button')?.focus({
    preventScroll: true,
  })
}

const TABS = ['operation', 'ratelimit', 'models', 'system', 'other'] as const
const URL_PARAMS = { tab: choiceParam(TABS, 'operation') }

export function SettingsPage() {
  const { t } = useTranslation()
  if (!isAdmin(useUser())) return <AdminsOnlyPage title={t('shell.settings')} />
  return (
    <Page
      title={t('shell.settings')}
      lead={t('settings.lead')}
      actions={<HistoryLink object="options:site" />}
    >
      <Settings />
    </Page>
  )
}

function Settings() {
  const { t } = useTranslation()
  const [{ tab }, setUrlParams] = useUrlState(URL_PARAMS)
  const body = useRef<HTMLDivElement>(null)
  const [invalidOption, setInvalidOption] = useState<{ key: string } | null>(null)
  const goBack = useReturnToPage()
  const form = useSettingsForm({ onInvalid: (key) => setInvalidOption({ key }), onSaved: goBack })
  const invalidTab = invalidOption === null ? undefined : form.option(invalidOption.key)?.tab
  useLeaveGuard(form.changes.length > 0)
  // First opens the tab with the invalid field, and then moves the focus to the field.
  useEffect(() => {
    if (invalidTab === undefined) return
    if (invalidTab !== tab) return setUrlParams({ tab: invalidTab })
    focusFirstError(body)
    setInvalidOption(null)
  }, [invalidTab, tab, setUrlParams])
  if (form.error !== null) {
    return <ErrorState error={form.error} onRetry={() => void form.reload()} />
  }
  if (form.isLoading) {
    return (
      <Panel>
        <Skeleton height={320} />
      </Panel>
    )
  }
  const sections = form.sections.filter(
    (section) => section.tab === tab && form.optionsOf(section.id).length > 0,
  )
  return (
    <div ref={body} className="tg-settings">
      <UpdateNotice onShow={() => setUrlParams({ tab: 'other' })} />
      <Tabs
        label={t('settings.tabs')}
        tabs={TABS.map((id) => ({ id, title: t(`settings.tab.${id}`) }))}
        selected={tab}
        onSelect={(next) => setUrlParams({ tab: next })}
      >
        <SectionList sections={sections} />
        <div className="tg-stack">
          {sections.map((section) => {
            const [OwnForm, Extra] = [CUSTOM_FORMS[section.id], SECTION_EXTRAS[section.id]]
            return (
              <SettingSection
                key={section.id}
                section={section}
                form={form}
                extra={Extra === undefined ? null : <Extra form={form} />}
              >
                {OwnForm === undefined ? null : <OwnForm form={form} />}
              </SettingSection>
            )
          })}
        </div>
      </Tabs>
      <SaveBar form={form} />
    </div>
  )
}

function UpdateNotice(props: { onShow: () => void }) {
  const { t } = useTranslation()
  const { data } = useQuery(automaticCheckQuery)
  if (data?.is_newer !== true) return null
  return (
    <div className="tg-setting-said tg-update-notice">
      <span>{t('settings.update.newer', { latest: data.latest, current: data.current })}</span>
      <Button size="small" onClick={props.onShow}>
        {t('settings.update.show')}
      </Button>
    </div>
  )
}

function SaveBar({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const count = form.changes.length
  const discard = async () => {
    if (await confirmDiscard(count > 0)) form.discard()
  }
  return (
    <div className={count > 0 ? 'tg-save-bar tg-save-bar-on' : 'tg-save-bar'}>
      <output>{count > 0 ? t('settings.changes', { count }) : t('settings.noChanges')}</output>
      <div className="tg-actions">
        {count > 0 && (
          <>
            <Button tone="quiet" onClick={() => void discard()}>
              {t('settings.discard')}
            </Button>
            <Button onClick={() => setOpen(true)}>{t('settings.review')}</Button>
          </>
        )}
        <Button tone="primary" isBusy={form.isSaving} onClick={() => void form.save()}>
          {t('shared.saveSettings')}
        </Button>
      </div>
      <Drawer
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('settings.reviewTitle')}
        lead={t('settings.reviewLead')}
      >
        <ul className="tg-changes">
          {form.changes.map((change) => (
            <Change key={change.key} change={change} form={form} />
          ))}
        </ul>
      </Drawer>
    </div>
  )
}

function Change({ change, form }: { change: OptionChange; form: SettingsForm }) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const option = form.option(change.key)
  return (
    <li>
      <h3>{texts.label(change.key)}</h3>
      <p className="tg-change-by">
        <code>{change.key}</code>
      </p>
      {option?.is_secret === true ? (
        <p className="tg-hint">
          {t(change.after === '' ? 'settings.secretCleared' : 'settings.secretReplaced')}
        </p>
      ) : (
        <OptionDiff before={change.before} after={change.after} />
      )}
    </li>
  )
}
