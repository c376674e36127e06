import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { errorWithMessage } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { FieldError, formProps, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { MePanelProps } from './me-panel-types.ts'
import { NotificationFields } from './notification-fields.tsx'
import {
  initialDraft,
  needsEmailCode,
  type SettingsDraft,
  settingsChange,
  validateSettings,
} from './user-settings-draft.ts'

const TABS = ['notifications', 'price', 'other'] as const
const URL_PARAMS = { settings: choiceParam(TABS, 'notifications') }

export function UserSettingsPanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  return (
    <Panel title={t('shared.settings')}>
      {user === undefined ? (
        <Skeleton height={426} />
      ) : (
        // The key resets the form when settings are saved in another tab.
        <SettingsForm key={user.setting} setting={user.setting} accountEmail={user.email} />
      )}
    </Panel>
  )
}

function SettingsForm(props: { setting: string; accountEmail: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [{ settings: tab }, setUrlParams] = useUrlState(URL_PARAMS)
  const form = useDraftForm<SettingsDraft>({
    initial: () => initialDraft(props.setting),
    save: async (draft, before) => {
      const invalid = validateSettings(draft, needsEmailCode(draft, props))
      if (invalid !== null) {
        setUrlParams({ settings: 'notifications' })
        throw new FieldError({ [invalid.field]: t(invalid.text) })
      }
      try {
        await call('PUT /api/user/setting', { body: settingsChange(draft, before) })
      } catch (error) {
        return showError(errorWithMessage(error, t('me.settingsFailed')))
      }
      showSuccess(t('me.settingsSaved'))
      await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    },
  })
  useLeaveGuard(form.isChanged)
  return (
    <form className="tg-form" {...formProps(form)}>
      <Tabs
        label={t('shared.settings')}
        tabs={TABS.map((id) => ({ id, title: t(`me.tab.${id}`) }))}
        selected={tab}
        onSelect={(settings) => setUrlParams({ settings })}
      >
        {tab === 'notifications' && <NotificationFields {...props} form={form} />}
        {tab === 'price' && (
          <SwitchField
            label={t('me.acceptUnpriced')}
            hint={t('me.acceptUnpricedHint')}
            {...form.field('acceptUnsetModelRatioModel')}
          />
        )}
        {tab === 'other' && (
          <SwitchField
            label={t('me.showIp')}
            hint={t('me.showIpHint')}
            {...form.field('showIpInLogs')}
          />
        )}
      </Tabs>
      <Button type="submit" tone="primary" isBusy={form.isBusy}>
        {t('shared.saveSettings')}
      </Button>
    </form>
  )
}
