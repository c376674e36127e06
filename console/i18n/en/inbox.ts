import type { Words } from '../words-type.ts'

export const inbox: Words['inbox'] = {
  lead: 'What the administrators have told you.',
  unread: 'Unread',
  loadFailed: 'The messages could not be loaded',
  missing: 'No such message',
  empty: 'No messages yet',
  emptyBody: 'What an administrator sends you shows up here.',
  emptyPage: 'There are no messages on this page',
  firstPage: 'Back to the first page',
  back: 'Back to the inbox',
  opening: 'Message',
  content: 'Content of the message',
}
