import { type ReactElement, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useBlocker } from 'react-router-dom'
import { isAdmin } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { mayLeave } from '#console/ui/may-leave.ts'
import { Page } from '#console/ui/page.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import { Tabs } from '#console/ui/tabs.tsx'
import { choiceParam } from '#console/ui/url-state.ts'
import { focusFirstFault } from '#console/ui/use-submit.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import { FallbackForm } from './fallback-form.tsx'
import { JsonOption } from './json-option.tsx'
import { PRICE_VIEWS, PricePanel } from './price-panel.tsx'
import { SaveBar } from './save-bar.tsx'
import { SECTIONS, type SettingsTab, TABS } from './setting-fields.ts'
import { SettingSection } from './setting-section.tsx'
import { type SettingsForm, useSettingsForm } from './use-settings-form.ts'
import '#console/ui/forms.css'
import './settings.css'

const ADDRESS = {
  tab: choiceParam<SettingsTab>(TABS, 'operation'),
  prices: choiceParam(PRICE_VIEWS, 'visual'),
}

/** The options of the site. Safe for visitors who are no admins: they are told so. */
export function SettingsPage(): ReactElement {
  const { t } = useTranslation()
  const user = useUser()
  return (
    <Page title={t('settings.title')} lead={t('settings.lead')}>
      {isAdmin(user) ? (
        <Settings />
      ) : (
        <Panel>
          <EmptyState
            icon="settings"
            title={t('settings.adminsOnlyTitle')}
            body={t('settings.adminsOnlyBody')}
          />
        </Panel>
      )}
    </Page>
  )
}

function Settings(): ReactElement {
  const { t } = useTranslation()
  const [{ tab }, setAddress] = useUrlState(ADDRESS)
  const body = useRef<HTMLDivElement>(null)
  const form = useSettingsForm(() => focusFirstFault(body))
  useLeaveGuard(form.changes.length > 0)
  if (form.error !== null) return <ErrorState error={form.error} onRetry={form.reload} />
  if (form.isLoading) {
    return (
      <Panel>
        <Skeleton height={320} />
      </Panel>
    )
  }
  const tabs = TABS.filter((id) => id === 'operation' || holdsSomething(id, form))
  return (
    <div ref={body} className="tg-settings">
      <Tabs
        label={t('settings.tabs')}
        tabs={tabs.map((id) => ({ id, title: t(`settings.tab.${id}`) }))}
        chosen={tabs.includes(tab) ? tab : 'operation'}
        onChoose={(next) => setAddress({ tab: next })}
      >
        <div className="tg-stack">
          {tab === 'operation' && <Operation form={form} />}
          {SECTIONS[tab].map((section) => (
            <SettingSection key={section.id} section={section} form={form} />
          ))}
        </div>
      </Tabs>
      <SaveBar form={form} />
    </div>
  )
}

function Operation({ form }: { form: SettingsForm }): ReactElement {
  const { t } = useTranslation()
  const [{ prices }, setAddress] = useUrlState(ADDRESS)
  return (
    <>
      <PricePanel form={form} view={prices} onView={(view) => setAddress({ prices: view })} />
      <FallbackForm form={form} />
      <Panel title={t('settings.groups')} lead={t('settings.groupsLead')}>
        <div className="tg-json-grid">
          <JsonOption option="GroupRatio" form={form} />
          <JsonOption option="UserUsableGroups" form={form} />
        </div>
      </Panel>
    </>
  )
}

const holdsSomething = (tab: SettingsTab, form: SettingsForm): boolean =>
  SECTIONS[tab].some(({ fields }) => fields.some(({ key }) => form.has(key)))

/** Asks before another page is opened or this one closed; tabs keep the drafts. */
function useLeaveGuard(hasUnsavedChanges: boolean): void {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      hasUnsavedChanges && currentLocation.pathname !== nextLocation.pathname,
  )
  const isAsking = useRef(false)
  useEffect(() => {
    if (blocker.state !== 'blocked' || isAsking.current) return
    isAsking.current = true
    void mayLeave(true).then((isLeaving) => {
      isAsking.current = false
      if (isLeaving) blocker.proceed()
      else blocker.reset()
    })
  }, [blocker])
  useEffect(() => {
    if (!hasUnsavedChanges) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [hasUnsavedChanges])
}
