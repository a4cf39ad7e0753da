{{- define "acuity.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "acuity.selector" -}}
app.kubernetes.io/name: acuity
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "acuity.labels" -}}
{{ include "acuity.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "acuity.secret" -}}
{{- if .Values.keyStore.existingSecret -}}
{{ .Values.keyStore.existingSecret }}
{{- else -}}
{{ include "acuity.name" . }}-key-store
{{- end -}}
{{- end -}}
