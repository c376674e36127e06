import { useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/account.ts'
import { failureOf } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Switch } from '#console/ui/forms/switches.tsx'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { focusFirstFault, useSubmit } from '#console/ui/forms/use-submit.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { MePanelProps } from './me-panel.ts'
import { NotificationFields } from './notification-fields.tsx'
import {
  changeOf,
  draftOf,
  faultOf,
  needsCode,
  type SettingsDraft,
  type SettingsFault,
} from './settings-draft.ts'

const TABS = ['notifications', 'price', 'other'] as const
const ADDRESS = { settings: choiceParam(TABS, 'notifications') }

/** The user's settings: notifications, calls without a price, and the IP address in logs. */
export function SettingsPanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  return (
    <Panel title={t('words.settings')}>
      {user === undefined ? (
        <Skeleton height={426} />
      ) : (
        // Settings that are saved in this or another tab replace the values in the form.
        <SettingsForm key={user.setting} setting={user.setting} boundMail={user.email} />
      )}
    </Panel>
  )
}

function SettingsForm(props: { setting: string; boundMail: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [address, setAddress] = useUrlState(ADDRESS)
  const tab = address.settings
  const form = useRef<HTMLFormElement>(null)
  const [draft, setDraft] = useState<SettingsDraft>(() => draftOf(props.setting))
  const [fault, setFault] = useState<SettingsFault | null>(null)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(props.setting))
  useLeaveGuard(isChanged)
  const change = (patch: Partial<SettingsDraft>) => {
    setFault(null)
    setDraft((now) => ({ ...now, ...patch }))
  }
  const { isBusy, submit } = useSubmit(async () => {
    const found = faultOf(draft, needsCode(draft, props))
    setFault(found)
    if (found !== null) {
      setAddress({ settings: 'notifications' })
      return focusFirstFault(form)
    }
    try {
      await call('PUT /api/user/setting', { body: changeOf(draft, draftOf(props.setting)) })
      showSuccess(t('me.settingsSaved'))
    } catch (error) {
      showError(failureOf(error, t('me.settingsFailed')))
      return
    }
    await client.invalidateQueries({ queryKey: selfQuery.queryKey })
  })
  return (
    <form
      ref={form}
      className="tg-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Tabs
        label={t('words.settings')}
        tabs={TABS.map((id) => ({ id, title: t(`me.tab.${id}`) }))}
        chosen={tab}
        onChoose={(id) => setAddress({ settings: id })}
      >
        <TabFields {...props} tab={tab} draft={draft} fault={fault} onChange={change} />
      </Tabs>
      <Button type="submit" tone="primary" isBusy={isBusy}>
        {t('words.saveSettings')}
      </Button>
    </form>
  )
}

type TabProps = ComponentProps<typeof NotificationFields> & { tab: (typeof TABS)[number] }

function TabFields({ tab, ...props }: TabProps) {
  const { t } = useTranslation()
  const { draft, onChange } = props
  if (tab === 'notifications') return <NotificationFields {...props} />
  return tab === 'price' ? (
    <Switch
      label={t('me.acceptUnpriced')}
      hint={t('me.acceptUnpricedHint')}
      isOn={draft.acceptsUnpriced}
      onChange={(acceptsUnpriced) => onChange({ acceptsUnpriced })}
    />
  ) : (
    <Switch
      label={t('me.showIp')}
      hint={t('me.showIpHint')}
      isOn={draft.showsIp}
      onChange={(showsIp) => onChange({ showsIp })}
    />
  )
}
