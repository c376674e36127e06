import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { Select, TextInput } from '#console/ui/inputs.tsx'
import { useTypeFacts } from '../use-type-facts.ts'
import { withType } from './channel-draft.ts'
import type { ChannelFormProps } from './channel-form-props.ts'
import { OwnFields } from './own-fields.tsx'
import { relayAddress } from './relay-address.ts'

/** Type, name, address, and what the type asks for besides. */
export function BasicFields(props: ChannelFormProps): ReactElement {
  const { draft, faults, onChange } = props
  const { t } = useTranslation()
  return (
    <>
      <TypeField {...props} />
      <FormField
        label={t('channels.name')}
        error={faults.name && t(`channelForm.fault.${faults.name}`)}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            maxLength={200}
            placeholder={t('channelForm.namePlaceholder')}
            value={draft.name}
            onChange={(name) => onChange({ name })}
          />
        )}
      </FormField>
      <Address {...props} />
      <OwnFields {...props} />
    </>
  )
}

/** The offered types, and with them the one that a channel being edited already has. */
function TypeField({ draft, stored, type, onChange }: ChannelFormProps): ReactElement {
  const { t } = useTranslation()
  const { types, nameOf, find } = useTypeFacts()
  const own = stored === null || find(stored.type) !== undefined ? [] : [stored.type]
  const choices = [...types.map(({ id }) => id), ...own]
  return (
    <FormField
      label={t('channels.type')}
      hint={type === undefined ? t('channelForm.typeUnserved') : undefined}
      isRequired
    >
      {(control) => (
        <Select
          {...control}
          value={String(draft.type)}
          choices={choices.map((id) => ({ value: String(id), label: nameOf(id) }))}
          onChange={(id) => {
            const after = find(Number(id))
            if (after === undefined) onChange({ type: Number(id) })
            else onChange(withType(draft, type, after))
          }}
        />
      )}
    </FormField>
  )
}

function Address(props: ChannelFormProps): ReactElement {
  const { draft, type, faults, refusal, onChange } = props
  const { t } = useTranslation()
  const refused = refusal?.field === 'baseUrl' ? refusal.text : undefined
  const address = relayAddress(type, draft.baseUrl, draft.own.other)
  return (
    <FormField
      label={t('channelForm.baseUrl')}
      hint={address === '' ? undefined : t('channelForm.baseUrlHint', { address })}
      error={faults.baseUrl ? t(`channelForm.fault.${faults.baseUrl}`) : refused}
      isRequired={type?.base_url === ''}
    >
      {(control) => (
        <>
          <TextInput
            {...control}
            type="text"
            inputMode="url"
            isMono
            spellCheck={false}
            autoComplete="off"
            placeholder={type?.base_url || 'https://'}
            value={draft.baseUrl}
            onChange={(baseUrl) => onChange({ baseUrl })}
          />
          {type !== undefined && type.bases.length > 0 && (
            <div className="tg-fills">
              {type.bases.map(({ keyword, name }) => (
                <Button
                  key={keyword}
                  size="small"
                  isPressed={draft.baseUrl.trim() === keyword}
                  onClick={() => onChange({ baseUrl: keyword })}
                >
                  {name[currentLanguage()]}
                </Button>
              ))}
            </div>
          )}
        </>
      )}
    </FormField>
  )
}
