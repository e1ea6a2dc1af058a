// Human-readable confirmation, as the body of a response.
import { record, Type } from '../base/schema.ts'

export const Message = record({ message: Type.String() }, { component: 'Message' })
