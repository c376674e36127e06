import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSiteAddress } from '#console/api/status.ts'
import { chatTarget, openChat } from '../chat-links/chat-links.ts'
import { Button } from '../elements/button.tsx'
import { CopyButton } from '../elements/copy-to-clipboard.tsx'
import { LabelledValue } from '../elements/labelled-value.tsx'
import { fullKey, maskedKey } from '../elements/token-key.ts'
import { PresetButtons, SelectField } from '../forms/fields.tsx'
import { choicesOf } from '../forms/inputs.tsx'
import { useSiteName } from '../layout/page.tsx'
import { Tabs } from '../layout/tabs.tsx'
import { CLIENTS, type Client, containerSiteOf, setupText } from './clients.ts'
import '../forms/forms.css'
import './client-setup.css'

/**
 * Shows the texts with which users connect a client program to this site. The key in these texts is
 * masked on the screen, but not in a copied text. If there is no key, a placeholder is shown.
 */
export function ClientSetup(props: {
  apiKey: string | null
  models: readonly [string, ...string[]]
}) {
  const { t } = useTranslation()
  const { apiKey, models } = props
  const [client, setClient] = useState<Client>(CLIENTS.sdk[0])
  const [chosenModel, setModel] = useState('')
  const [chosenTitle, setTitle] = useState('')
  const [site, siteName] = [useSiteAddress(), useSiteName()]
  const { setups, note, prefers } = client
  const [firstTitle = ''] = Object.keys(setups)
  const title = chosenTitle in setups ? chosenTitle : firstTitle
  const template = setups[title] ?? ''
  const suggested = models.find((model) => prefers?.test(model)) ?? models[0]
  const model = models.includes(chosenModel) ? chosenModel : suggested
  const smallModel = models.find((other) => /haiku/i.test(other)) ?? model
  const key = fullKey(apiKey ?? '…')
  const copied = { site, name: siteName, key, model, smallModel }
  const shown = apiKey === null ? copied : { ...copied, key: maskedKey(key) }
  const name = client.name === 'other' ? t('clientSetup.other') : client.name
  return (
    <div className="tg-client-setup">
      <ClientChoice client={client} onChange={setClient} />
      <SelectField
        label={t('ui.model')}
        value={model}
        choices={choicesOf(models)}
        onChange={setModel}
      />
      <Tabs
        label={t('clientSetup.setups', { name })}
        tabs={Object.keys(setups).map((id) => ({
          id,
          title: id === 'form' || id === 'import' ? t(`clientSetup.${id}`) : id,
        }))}
        selected={title}
        onSelect={setTitle}
      >
        <SetupBody
          template={template}
          name={name}
          shown={setupText(template, shown)}
          copied={apiKey === null ? null : setupText(template, copied)}
        />
      </Tabs>
      {note !== undefined && applies(note, site) && (
        <p className="tg-hint">
          {t(`clientSetup.${note}`, { name, address: containerSiteOf(site) })}
        </p>
      )}
      <p className="tg-hint">
        {t(apiKey === null ? 'clientSetup.keyMissing' : 'shared.keyMasked')}
      </p>
    </div>
  )
}

/** Reports whether a note about a client applies to a site with the address `site`. */
function applies(note: NonNullable<Client['note']>, site: string): boolean {
  if (note === 'needsHttps') return chatTarget(site, '') === 'none'
  return note === 'calledFromServers' || containerSiteOf(site) !== site
}

function ClientChoice(props: { client: Client; onChange: (client: Client) => void }) {
  const { t } = useTranslation()
  return (['sdk', 'agent', 'app'] as const).map((kind) => (
    <div key={kind} className="tg-client-kind">
      <span aria-hidden="true">{t(`clientSetup.${kind}`)}</span>
      <PresetButtons
        label={t(`clientSetup.${kind}`)}
        choices={CLIENTS[kind].map(({ name }) => ({
          value: name,
          text: name === 'other' ? t('clientSetup.other') : name,
        }))}
        selected={props.client.name}
        onSelect={(next) => {
          const client = CLIENTS[kind].find(({ name }) => name === next)
          if (client !== undefined) props.onChange(client)
        }}
      />
    </div>
  ))
}

/**
 * Shows one text (`shown`) and its copy button. A form is shown as fields with one copy button
 * each, and a link as a button that opens the client. The copied text is `copied`, which contains
 * the key. If `copied` is null, the copied text is `shown`, in which a placeholder replaces the
 * key.
 */
function SetupBody(props: {
  template: string
  name: string
  shown: string
  copied: string | null
}) {
  const { t } = useTranslation()
  const { template, name, shown } = props
  const copied = props.copied ?? shown
  if (template.endsWith('form')) {
    const values = copied.split('\n').map((line) => line.slice(line.indexOf(': ') + 2))
    return (
      <dl className="tg-client-fields">
        {shown.split('\n').map((line, index) => {
          const [label = '', ...rest] = line.split(': ')
          const copyLabel = t('clientSetup.copyField', { name: label })
          return (
            <LabelledValue key={label} name={label}>
              <code>{rest.join(': ')}</code>
              <CopyButton text={values[index] ?? ''} label={copyLabel} />
            </LabelledValue>
          )
        })}
      </dl>
    )
  }
  if (template.endsWith('link')) {
    return (
      <div className="tg-client-link">
        <p>{t('clientSetup.importLead', { name })}</p>
        <div className="tg-actions">
          <Button
            icon="external"
            isDisabled={props.copied === null}
            onClick={() => openChat(copied)}
          >
            {t('clientSetup.open', { name })}
          </Button>
          <CopyButton text={copied} label={t('clientSetup.copyLink')}>
            {t('clientSetup.copyLink')}
          </CopyButton>
        </div>
      </div>
    )
  }
  return (
    <div className="tg-client-text">
      <CopyButton text={copied} label={t('clientSetup.copyText')} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
      <pre tabIndex={0}>{shown}</pre>
    </div>
  )
}
