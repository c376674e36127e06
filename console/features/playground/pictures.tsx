import { createContext, type ReactElement, type ReactNode, useContext } from 'react'
import { useTranslation } from 'react-i18next'

/** A picture in Markdown whose data is part of its address, also if the end has not arrived. */
const PICTURE = /!\[([^\][\n]{0,200})\]\((data:image\/[a-z0-9.+-]{1,40};base64,[\w+/=]*)(\)|$)/g
const PLACEHOLDER = /tg-picture:(\d{1,6})/g
const DATA_ADDRESS = /^data:image\/[a-z0-9.+-]{1,40};base64,./i
/** The address of a picture whose data was removed. */
const REMOVED = 'data:'

/**
 * Returns a Markdown text without the data of its pictures. Pictures have megabytes, so that they
 * would displace all other conversations from the browser's storage, and would cost a model that
 * reads them as text millions of tokens.
 */
export const withoutPictures = (text: string): string => text.replace(PICTURE, `![$1](${REMOVED})`)

/** A Markdown text with placeholders for the addresses of its pictures, and these addresses. */
type SplitText = { readonly text: string; readonly addresses: readonly string[] }

/**
 * Replaces the addresses of pictures with placeholders, because parsing megabytes of data would
 * block the page. Of a picture that is not complete, only the description is left.
 */
export function splitPictures(markdown: string): SplitText {
  const addresses: string[] = []
  const text = markdown.replace(PICTURE, (_, description: string, address: string, end: string) =>
    end === '' ? description : `![${description}](tg-picture:${addresses.push(address) - 1})`,
  )
  return { text, addresses }
}

const Addresses = createContext<readonly string[]>([])

/** Gives the views of a text the addresses of its pictures. */
export const PictureAddresses = (props: {
  addresses: readonly string[]
  children: ReactNode
}): ReactElement => <Addresses value={props.addresses}>{props.children}</Addresses>

/** Returns a function that replaces placeholders in a text with the addresses of the pictures. */
export function useRestoredAddresses(): (text: string) => string {
  const addresses = useContext(Addresses)
  return (text) => text.replace(PLACEHOLDER, (all, at: string) => addresses[Number(at)] ?? all)
}

/**
 * Shows a picture whose data is part of its address. A picture on another server is not loaded,
 * because that would tell the server about the chat: `otherwise` is shown instead.
 */
export function Picture(props: {
  address: string
  description?: string
  otherwise: ReactNode
}): ReactElement {
  const { t } = useTranslation()
  if (props.address === REMOVED)
    return <em className="tg-hint">{t('playground.pictureRemoved')}</em>
  if (!DATA_ADDRESS.test(props.address)) return <>{props.otherwise}</>
  const description = props.description || t('playground.picture')
  return <img className="tg-prose-picture" src={props.address} alt={description} />
}
