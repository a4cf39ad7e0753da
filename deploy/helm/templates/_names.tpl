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

{{/* Of the key store: said, or what its URL says, or Redis's own. */}}
{{- define "acuity.keyStorePort" -}}
{{- $said := regexFind "^rediss?://[^/?#]*:[0-9]+([/?#]|$)" .Values.keyStore.url -}}
{{- .Values.keyStore.port | default (regexFind "[0-9]+$" (trimSuffix "#" (trimSuffix "?" (trimSuffix "/" $said)))) | default 6379 -}}
{{- end -}}

{{/* Of the collector of traces, where there is one. */}}
{{- define "acuity.collectorPort" -}}
{{- $url := .Values.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT | default .Values.env.OTEL_EXPORTER_OTLP_ENDPOINT | default "" -}}
{{- if $url -}}
{{- $host := regexFind "^https?://[^/?#]+" $url -}}
{{- trimPrefix ":" (regexFind ":[0-9]+$" $host) | default (ternary 443 80 (hasPrefix "https:" $url)) -}}
{{- end -}}
{{- end -}}

{{- define "acuity.secret" -}}
{{- if .Values.keyStore.existingSecret -}}
{{ .Values.keyStore.existingSecret }}
{{- else -}}
{{ include "acuity.name" . }}-key-store
{{- end -}}
{{- end -}}
