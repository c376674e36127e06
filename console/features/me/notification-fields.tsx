import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { PasswordField, TextField } from '#console/ui/forms/fields.tsx'
import { MailCodeField } from '#console/ui/forms/mail-code.tsx'
import { Checkbox, RadioCards } from '#console/ui/forms/switches.tsx'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { dollarText, exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import {
  hasSecret,
  keptMailTo,
  needsCode,
  type SettingsDraft,
  type SettingsFault,
  unsendableOf,
} from './settings-draft.ts'

const PRESETS = [100_000n, 500_000n, 1_000_000n, 5_000_000n]

type FieldsProps = {
  setting: string
  boundMail: string
  draft: SettingsDraft
  fault: SettingsFault | null
  onChange: (patch: Partial<SettingsDraft>) => void
}

/** The threshold of low-quota warnings, and whether they are sent by mail or webhook. */
export function NotificationFields(props: FieldsProps) {
  const { t } = useTranslation()
  const { draft, onChange } = props
  return (
    <>
      <RadioCards
        label={t('me.means')}
        value={draft.means}
        choices={[
          { value: 'email', label: t('me.byMail'), hint: t('me.byMailHint') },
          { value: 'webhook', label: t('me.byWebhook'), hint: t('me.byWebhookHint') },
        ]}
        // When the means changes, hidden fields keep their values, except the mail address and its
        // code.
        onChange={(means) => onChange({ means, mailTo: keptMailTo(props.setting), mailCode: '' })}
      />
      <Threshold {...props} />
      {draft.means === 'email' ? <MailFields {...props} /> : <WebhookFields {...props} />}
    </>
  )
}

/** The mail address for warnings. An unverified address needs a mailed code. */
function MailFields(props: FieldsProps) {
  const { t } = useTranslation()
  const { boundMail, draft, onChange } = props
  const [refused, setRefused] = useState({ mail: '', words: '' })
  return (
    <>
      <TextField
        label={t('me.mailTo')}
        error={refused.mail === draft.mailTo ? refused.words : ''}
        hint={boundMail === '' ? t('me.mailToNeeded') : t('me.mailToHint', { mail: boundMail })}
        type="email"
        autoComplete="email"
        placeholder={boundMail}
        value={draft.mailTo}
        onChange={(mailTo) => onChange({ mailTo })}
      />
      {needsCode(draft, props) && (
        <ProofOfMail {...props} onRefused={(words) => setRefused({ mail: draft.mailTo, words })} />
      )}
    </>
  )
}

/** A separate component, because the human verification must load only when it is needed. */
function ProofOfMail(props: FieldsProps & { onRefused: (words: string) => void }) {
  const { t } = useTranslation()
  const { draft, fault, onChange } = props
  const human = useHumanCheck('verification')
  return (
    <>
      <MailCodeField
        email={draft.mailTo}
        value={draft.mailCode}
        error={fault === 'mailCodeNeeded' ? t('auth.needCode') : undefined}
        purpose="notify"
        onChange={(mailCode) => onChange({ mailCode })}
        takeToken={human.take}
        onNoAddress={() => {}}
        onRefused={props.onRefused}
      />
      {human.box}
    </>
  )
}

function Threshold({ draft, fault, onChange }: FieldsProps) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const isWhole = /^\d{1,16}$/.test(draft.threshold)
  const worth = isWhole
    ? exactQuotaText(BigInt(draft.threshold), { ...rule, isCurrency: true })
    : ''
  return (
    <>
      <TextField
        label={t('me.threshold')}
        hint={t('me.thresholdHint', { worth: worth || '—' })}
        error={fault === 'thresholdInvalid' ? t('me.thresholdInvalid') : ''}
        className="tg-input-short"
        inputMode="numeric"
        autoComplete="off"
        value={draft.threshold}
        onChange={(threshold) => onChange({ threshold })}
      />
      <fieldset className="tg-me-presets" aria-label={t('me.presets')}>
        {PRESETS.map((preset) => (
          <Button
            key={String(preset)}
            size="small"
            isPressed={draft.threshold === String(preset)}
            onClick={() => onChange({ threshold: String(preset) })}
          >
            {`${preset} (${dollarText(preset, rule)})`}
          </Button>
        ))}
      </fieldset>
    </>
  )
}

function WebhookFields({ setting, draft, fault, onChange }: FieldsProps) {
  const { t } = useTranslation()
  const isOldFault = unsendableOf(setting, draft) === 'url'
  const oldFault = isOldFault ? t('me.urlUnsendable') : ''
  const urlFault =
    fault === 'webhookNeeded' || fault === 'webhookNotHttps' ? t(`me.${fault}`) : oldFault
  return (
    <>
      <TextField
        label={t('me.webhookUrl')}
        hint={t('me.webhookUrlHint')}
        error={urlFault}
        isRequired
        type="url"
        autoComplete="off"
        spellCheck={false}
        placeholder="https://example.com/webhook"
        value={draft.webhookUrl}
        onChange={(webhookUrl) => onChange({ webhookUrl })}
      />
      <SecretField setting={setting} draft={draft} onChange={onChange} />
    </>
  )
}

/** Sets a new webhook secret or removes the stored secret. */
function SecretField(props: Pick<FieldsProps, 'setting' | 'draft' | 'onChange'>) {
  const { t } = useTranslation()
  const { draft, onChange } = props
  const isKept = hasSecret(props.setting)
  const isUnsendable = unsendableOf(props.setting, draft) === 'secret'
  return (
    <>
      <PasswordField
        label={t('me.webhookSecret')}
        hint={t('me.webhookSecretHint')}
        error={isUnsendable ? t('me.secretUnsendable') : ''}
        isKey
        autoComplete="new-password"
        spellCheck={false}
        placeholder={isKept && !draft.removesSecret ? t('me.secretKept') : ''}
        disabled={draft.removesSecret}
        value={draft.webhookSecret}
        onChange={(webhookSecret) => onChange({ webhookSecret })}
      />
      {isKept && (
        <Checkbox
          label={t('me.removeSecret')}
          hint={t('me.removeSecretHint')}
          isOn={draft.removesSecret}
          onChange={(removesSecret) => onChange({ removesSecret, webhookSecret: '' })}
        />
      )}
    </>
  )
}
