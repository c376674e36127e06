import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { Checkbox, RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { PasswordField, TextField } from '#console/ui/forms/fields.tsx'
import { MailCodeField } from '#console/ui/forms/mail-code-fields.tsx'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { dollarText, exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import {
  failedWebhookField,
  hasWebhookSecret,
  needsEmailCode,
  type SettingsDraft,
  storedNotificationEmail,
} from './user-settings-draft.ts'

const PRESETS = [100_000n, 500_000n, 1_000_000n, 5_000_000n]

type FieldsProps = {
  setting: string
  accountEmail: string
  form: DraftForm<SettingsDraft>
}

export function NotificationFields(props: FieldsProps) {
  const { t } = useTranslation()
  const { draft, change } = props.form
  return (
    <>
      <RadioCards
        label={t('me.notifyBy')}
        value={draft.deliveryMethod}
        choices={[
          { value: 'email', label: t('me.byMail'), hint: t('me.byMailHint') },
          { value: 'webhook', label: t('me.byWebhook'), hint: t('me.byWebhookHint') },
        ]}
        // A change of the notification method restores the stored mail address and clears the
        // verification code. The other fields keep their values, even if a field is now hidden.
        onChange={(deliveryMethod) =>
          change({
            deliveryMethod,
            notificationEmail: storedNotificationEmail(props.setting),
            notificationCode: '',
          })
        }
      />
      <Threshold {...props} />
      {draft.deliveryMethod === 'email' ? <MailFields {...props} /> : <WebhookFields {...props} />}
    </>
  )
}

function MailFields(props: FieldsProps) {
  const { t } = useTranslation()
  const { accountEmail, form } = props
  return (
    <>
      <TextField
        label={t('me.mailTo')}
        hint={
          accountEmail === '' ? t('me.mailToMissing') : t('me.mailToHint', { mail: accountEmail })
        }
        type="email"
        autoComplete="email"
        placeholder={accountEmail}
        {...form.field('notificationEmail')}
      />
      {needsEmailCode(form.draft, props) && <MailCode form={form} />}
    </>
  )
}

/**
 * The field for the code that verifies a mail address. The field is a separate component, because
 * the CAPTCHA must load only when a code is needed.
 */
function MailCode({ form }: Pick<FieldsProps, 'form'>) {
  const human = useHumanCheck('verification')
  return (
    <>
      <MailCodeField
        email={form.draft.notificationEmail}
        purpose="notify"
        takeToken={human.takeToken}
        onNoAddress={() => {}}
        onError={(text) => form.setFieldError('notificationEmail', text)}
        {...form.field('notificationCode')}
      />
      {human.box}
    </>
  )
}

function Threshold({ form }: FieldsProps) {
  const { t } = useTranslation()
  const { threshold } = form.draft
  const rule = useMoneyRule()
  const isWhole = /^\d{1,16}$/.test(threshold)
  const amountText = isWhole ? exactQuotaText(BigInt(threshold), { ...rule, isCurrency: true }) : ''
  return (
    <>
      <TextField
        label={t('me.threshold')}
        hint={t('me.thresholdHint', { worth: amountText || '—' })}
        className="tg-input-short"
        inputMode="numeric"
        autoComplete="off"
        {...form.field('threshold')}
      />
      <fieldset className="tg-me-presets" aria-label={t('me.presets')}>
        {PRESETS.map((preset) => (
          <Button
            key={String(preset)}
            size="small"
            isPressed={threshold === String(preset)}
            onClick={() => form.change({ threshold: String(preset) })}
          >
            {`${preset} (${dollarText(preset, rule)})`}
          </Button>
        ))}
      </fieldset>
    </>
  )
}

function WebhookFields({ setting, form }: FieldsProps) {
  const { t } = useTranslation()
  const isStoredUrlInvalid = failedWebhookField(setting, form.draft) === 'url'
  return (
    <>
      <TextField
        label={t('me.webhookUrl')}
        hint={t('me.webhookUrlHint')}
        isRequired
        type="url"
        autoComplete="off"
        placeholder="https://example.com/webhook"
        {...form.field('webhookUrl')}
        error={form.errors.webhookUrl ?? (isStoredUrlInvalid ? t('me.urlUnsendable') : undefined)}
      />
      <SecretField setting={setting} form={form} />
    </>
  )
}

function SecretField({ setting, form }: Pick<FieldsProps, 'setting' | 'form'>) {
  const { t } = useTranslation()
  const { removesSecret } = form.draft
  const isSecretSet = hasWebhookSecret(setting)
  const isUnsendable = failedWebhookField(setting, form.draft) === 'secret'
  return (
    <>
      <PasswordField
        label={t('me.webhookSecret')}
        hint={t('me.webhookSecretHint')}
        isKey
        autoComplete="new-password"
        placeholder={isSecretSet && !removesSecret ? t('me.secretIsSet') : ''}
        disabled={removesSecret}
        {...form.field('webhookSecret')}
        error={isUnsendable ? t('me.secretUnsendable') : undefined}
      />
      {isSecretSet && (
        <Checkbox
          label={t('me.removeSecret')}
          hint={t('me.removeSecretHint')}
          isOn={removesSecret}
          onChange={(isOn) => form.change({ removesSecret: isOn, webhookSecret: '' })}
        />
      )}
    </>
  )
}
