import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { useIsNarrow } from '#console/ui/state/use-media-query.ts'
import { type Conversation, requestMessages } from './conversation.ts'

/**
 * The buttons above the conversation. In a narrow window, two more buttons open the settings and
 * the list of conversations as drawers.
 */
export function PlaygroundActions(props: {
  drawers: { settings: ReactElement; conversationList: (close: () => void) => ReactElement } | null
  conversation: Conversation
  isBusy: boolean
  begin: () => void
}) {
  const { t } = useTranslation()
  const { drawers, conversation } = props
  const isNarrow = useIsNarrow()
  return (
    <>
      {drawers !== null && (
        <>
          <DrawerButton title={t('playground.conversations')}>
            {drawers.conversationList}
          </DrawerButton>
          <DrawerButton title={t('shared.settings')}>{() => drawers.settings}</DrawerButton>
        </>
      )}
      {!isNarrow && (
        <CopyButton
          text={async () => curlText(conversation, location.origin)}
          label={t('playground.copyCurl')}
        >
          cURL
        </CopyButton>
      )}
      <Button icon="add" onClick={props.begin} isDisabled={props.isBusy}>
        {t('playground.newChat')}
      </Button>
    </>
  )
}

function DrawerButton(props: { title: string; children: (close: () => void) => ReactElement }) {
  const [isOpen, setOpen] = useState(false)
  const close = (): void => setOpen(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>{props.title}</Button>
      <Drawer isOpen={isOpen} onClose={close} title={props.title}>
        {props.children(close)}
      </Drawer>
    </>
  )
}

function curlText(conversation: Conversation, origin: string): string {
  const { model, temperature, maxTokens } = conversation.settings
  const body = {
    model,
    stream: true,
    temperature: temperature / 10,
    ...(maxTokens === 0 ? {} : { max_tokens: maxTokens }),
    messages: requestMessages(conversation),
  }
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''")
  return [
    `curl ${origin}/v1/chat/completions \\`,
    `  -H 'Authorization: Bearer sk-…' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${json}'`,
  ].join('\n')
}
