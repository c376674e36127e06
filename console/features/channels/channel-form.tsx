import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { PasswordInput, Select, TextInput } from '#console/ui/inputs.tsx'
import { ChannelAdvanced } from './channel-advanced.tsx'
import {
  type ChannelDraft,
  type ChannelFaults,
  JSON_FIELDS,
  needsKeyAgain,
  withType,
} from './channel-draft.ts'
import { ChannelLists } from './channel-lists.tsx'
import { relayAddress, typesToOffer } from './channel-types.ts'

export type ChannelFormProps = {
  draft: ChannelDraft
  /** As it is on the server; null for a new one. */
  stored: ChannelDraft | null
  faults: ChannelFaults
  onChange: (draft: ChannelDraft) => void
}

const ADVANCED = [...JSON_FIELDS, 'priority', 'weight'] as const

/** The basics, and the rest behind one press; opened when a fault lies there. */
export function ChannelForm(props: ChannelFormProps): ReactElement {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const hasFault = ADVANCED.some((field) => props.faults[field] !== undefined)
  return (
    <>
      <fieldset className="tg-form-group">
        <legend>{t('channels.basics')}</legend>
        <TypeAndName {...props} />
        <Address {...props} />
        <Key {...props} />
        <ChannelLists {...props} />
      </fieldset>
      <section className="tg-form-group">
        <button
          type="button"
          className="tg-disclosure"
          aria-expanded={isOpen || hasFault}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen || hasFault ? 'chevronDown' : 'chevronRight'} />
          <span>{t('channels.advanced')}</span>
          <span className="tg-hint">{t('channels.advancedLead')}</span>
        </button>
        {(isOpen || hasFault) && <ChannelAdvanced {...props} />}
      </section>
    </>
  )
}

function TypeAndName({ draft, stored, faults, onChange }: ChannelFormProps): ReactElement {
  const { t } = useTranslation()
  const types = typesToOffer(stored?.type ?? 1)
  return (
    <>
      <FormField label={t('channels.type')} hint={t('channels.typeHint')} isRequired>
        {(control) => (
          <Select
            {...control}
            value={String(draft.type)}
            choices={types.map(({ id, name }) => ({ value: String(id), label: name }))}
            onChange={(type) => onChange(withType(draft, Number(type)))}
          />
        )}
      </FormField>
      <FormField
        label={t('channels.name')}
        error={faults.name && t(`channels.fault.${faults.name}`)}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            maxLength={200}
            placeholder={t('channels.namePlaceholder')}
            value={draft.name}
            onChange={(name) => onChange({ ...draft, name })}
          />
        )}
      </FormField>
    </>
  )
}

function Address({ draft, faults, onChange }: ChannelFormProps): ReactElement {
  const { t } = useTranslation()
  const address = relayAddress(draft.type, draft.baseUrl)
  return (
    <FormField
      label={t('channels.baseUrl')}
      hint={URL.canParse(draft.baseUrl) ? t('channels.baseUrlHint', { address }) : undefined}
      error={faults.baseUrl && t(`channels.fault.${faults.baseUrl}`)}
      isRequired
    >
      {(control) => (
        <TextInput
          {...control}
          type="url"
          inputMode="url"
          isMono
          spellCheck={false}
          placeholder="https://"
          value={draft.baseUrl}
          onChange={(baseUrl) => onChange({ ...draft, baseUrl })}
        />
      )}
    </FormField>
  )
}

function Key({ draft, stored, faults, onChange }: ChannelFormProps): ReactElement {
  const { t } = useTranslation()
  const isAgain = stored !== null && needsKeyAgain(stored, draft)
  const hint = isAgain ? t('channels.keyAgainHint') : t('channels.keyKept')
  return (
    <FormField
      label={t('channels.key')}
      hint={stored === null ? undefined : hint}
      error={faults.key && t(`channels.fault.${faults.key}`)}
      isRequired={stored === null || isAgain}
    >
      {(control) => (
        <PasswordInput
          {...control}
          isMono
          autoComplete="new-password"
          spellCheck={false}
          placeholder={t('channels.keyPlaceholder')}
          value={draft.key}
          onChange={(key) => onChange({ ...draft, key })}
        />
      )}
    </FormField>
  )
}
